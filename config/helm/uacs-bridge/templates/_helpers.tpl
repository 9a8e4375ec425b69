{{- define "uacs-bridge.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* What selects the pods; never changes in the life of a release. */}}
{{- define "uacs-bridge.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "uacs-bridge.labels" -}}
{{ include "uacs-bridge.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "uacs-bridge.image" -}}
{{- $repository := required "image.repository is needed: where you pushed the image" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{/* The port that the configuration names. */}}
{{- define "uacs-bridge.port" -}}
{{- dig "web" "port" 8080 (fromYaml .Values.config) | int -}}
{{- end }}

{{/* Refuses a configuration with which several processes cannot work; the rest is checked by
`uacs-bridge check`. */}}
{{- define "uacs-bridge.check" -}}
{{- $text := required "config is needed, the text of bridge.yaml: --set-file config=bridge.yaml" .Values.config -}}
{{- $config := fromYaml $text -}}
{{- with $config.Error }}{{ fail (printf "config is not valid YAML: %s" .) }}{{ end -}}
{{- $web := $config.web | default dict -}}
{{- $store := $config.store | default dict -}}
{{- if not (kindIs "map" $config.cluster) -}}
{{- fail "config needs a section `cluster`, such as cluster: {nats: nats://nats:4222}" -}}
{{- end -}}
{{- if not (regexMatch "^postgres(ql)?://" (toString $store.url)) -}}
{{- fail "config needs store.url, the address of a PostgreSQL database: processes share it" -}}
{{- end -}}
{{- if not (kindIs "map" $store.blobs) -}}
{{- fail "config needs store.blobs, a bucket: processes have no folder for files in common" -}}
{{- end -}}
{{- if not (regexMatch "^/var/lib/uacs-bridge/[^/]+$" (toString $store.path)) -}}
{{- fail "config needs store.path: /var/lib/uacs-bridge/bridge.sqlite3, where the process may write" -}}
{{- end -}}
{{- if not (has $web.host (list "0.0.0.0" "::")) -}}
{{- fail "config needs web.host: 0.0.0.0, for probes and requests from outside of the pod" -}}
{{- end -}}
{{- if lt (include "uacs-bridge.port" . | int) 1024 -}}
{{- fail "web.port of config must be 1024 or more: the process has no privileges" -}}
{{- end -}}
{{- end }}
