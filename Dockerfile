# uacs-bridge in a container: configuration in /etc/uacs-bridge, data in /var/lib/uacs-bridge.
#   docker build -t uacs-bridge .
#   docker compose -f config/compose.yaml up
# In the configuration: `web: {host: 0.0.0.0}` and `store: {path: /var/lib/uacs-bridge/bridge.sqlite3}`.

FROM python:3.13-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1
RUN python -m venv /opt/uacs-bridge
ENV PATH=/opt/uacs-bridge/bin:$PATH
WORKDIR /src
# Dependencies first, those of all extras among them: this layer changes only with the lock.
COPY requirements.lock ./
RUN pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY bridge ./bridge
COPY connectors ./connectors
RUN pip install --no-deps .

FROM python:3.13-slim
LABEL org.opencontainers.image.title="uacs-bridge" org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --home-dir /var/lib/uacs-bridge --shell /usr/sbin/nologin bridge \
    && install -d -o bridge -g bridge -m 0700 /var/lib/uacs-bridge \
    && install -d -m 0755 /etc/uacs-bridge
COPY --from=build /opt/uacs-bridge /opt/uacs-bridge
ENV PATH=/opt/uacs-bridge/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    UACS_BRIDGE_CONFIG=/etc/uacs-bridge/bridge.yaml
USER 10001
WORKDIR /var/lib/uacs-bridge
VOLUME /var/lib/uacs-bridge
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/readyz', timeout=4)"]
ENTRYPOINT ["uacs-bridge"]
CMD ["run"]
