"""The card tree -> HTML that shows it; its buttons and inputs do nothing in an archive. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from bridge.content.cards.tree import (
    Actions,
    Alert,
    Asset,
    Badge,
    Button,
    Carousel,
    Chart,
    Choice,
    Columns,
    Container,
    Context,
    Credit,
    DateInput,
    Divider,
    Fields,
    File,
    Gallery,
    Image,
    Native,
    Node,
    NumberInput,
    Picker,
    Player,
    Poll,
    Progress,
    Prose,
    Rating,
    Section,
    Table,
    Tasks,
    TextInput,
    Toggle,
)
from bridge.content.markdown.html_writer import document_html, inlines_html, link_html

Stored = Callable[[Asset], str | None]
"""An asset -> the address of its copy in the site; None if the site has none."""

_MARKS = {"pending": "○", "running": "◔", "done": "●", "failed": "✕"}


class CardDrawing:
    """Draws nodes; `stored` tells which pictures and files the site has."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    def nodes(self, nodes: Iterable[Node]) -> str:
        """Return nodes as HTML, one below the other."""
        return "".join(map(self._node, nodes))

    def _node(self, node: Node) -> str:  # noqa: C901 - one flat match over the kinds
        match node:
            case Prose():
                subtle = " subtle" if node.subtle else ""
                return f'<div class="prose {node.size} {node.style}{subtle}">' + (
                    f"{document_html(node.text)}</div>"
                )
            case Container():
                return self._container(node)
            case Section():
                inner = (
                    f"<div>{self.nodes(node.nodes)}</div><div>{self._node(node.accessory)}</div>"
                )
                return f'<div class="section{" leading" if node.leading else ""}">{inner}</div>'
            case Columns():
                inner = "".join(f"<div>{self.nodes(one.nodes)}</div>" for one in node.columns)
                return f'<div class="columns">{inner}</div>'
            case Carousel():
                return f'<div class="carousel" tabindex="0">{self.nodes(node.cards)}</div>'
            case Image():
                return self._image(node)
            case Gallery():
                return f'<div class="gallery">{self.nodes(node.items)}</div>'
            case Player():
                return self._player(node)
            case File():
                return self._file(node.asset, inlines_html(node.title))
            case Fields():
                pairs = (
                    f"<div><dt>{inlines_html(one.label)}</dt><dd>{document_html(one.value)}</dd></div>"
                    for one in node.items
                )
                return f'<dl class="fields">{"".join(pairs)}</dl>'
            case Table():
                return self._table(node)
            case Context():
                return f'<div class="context">{self.nodes(node.items)}</div>'
            case Divider():
                return "<hr>" if node.line else '<div class="gap"></div>'
            case Alert():
                return f'<div class="alert {node.level}">{document_html(node.text)}</div>'
            case Badge():
                return f'<span class="badge">{inlines_html(node.text) or escape(node.icon)}</span>'
            case Progress():
                return self._progress(node)
            case Rating():
                count = f" ({node.count})" if node.count is not None else ""
                return f"<p>{node.value:g} of {node.max} stars{count}</p>"
            case Tasks():
                return self._tasks(node)
            case Chart():
                return self._chart(node)
            case Poll():
                return self._poll(node)
            case Native():
                return self.nodes(node.fallback)
            case Actions():
                return f'<div class="actions">{"".join(map(self._node, node.items))}</div>'
            case Button():
                return self._button(node)
            case TextInput() | NumberInput() | DateInput() | Toggle() | Choice() | Picker():
                return self._input(node)
            case _:
                return self._label(node.label, "a file")

    # --- groups ---------------------------------------------------------------------------------

    def _container(self, node: Container) -> str:
        inner = "".join(
            (
                self._credit(node.author),
                self._image(node.hero) if node.hero else "",
                self._image(node.thumbnail) if node.thumbnail else "",
                f"<h4>{self._linked(node.link, inlines_html(node.title))}</h4>"
                if node.title
                else "",
                f'<p class="subtle">{inlines_html(node.subtitle)}</p>' if node.subtitle else "",
                self.nodes(node.nodes),
                self._credit(node.footer),
            )
        )
        if node.form == "group" and node.style == "default" and node.collapsed is None:
            return f'<div class="group">{inner}</div>'
        if node.collapsed is not None or node.hidden or node.spoiler:
            title = inlines_html(node.title) or "Details"
            return f'<details class="card {node.style}"><summary>{title}</summary>{inner}</details>'
        return f'<div class="card {node.style}">{inner}</div>'

    def _credit(self, credit: Credit | None) -> str:
        if credit is None:
            return ""
        return f'<p class="credit">{self._linked(credit.link, inlines_html(credit.text))}</p>'

    @staticmethod
    def _linked(url: str, inner: str) -> str:
        return link_html(url, inner) if url else inner

    def _table(self, node: Table) -> str:
        rows: list[str] = []
        for number, row in enumerate(node.rows):
            name = "th" if node.header and number == 0 else "td"
            cells = "".join(f"<{name}>{self.nodes(cell)}</{name}>" for cell in row)
            rows.append(f"<tr>{cells}</tr>")
        title = f"<caption>{inlines_html(node.title)}</caption>" if node.title else ""
        return (
            '<div class="wide" tabindex="0" role="group" aria-label="Table">'
            f"<table>{title}{''.join(rows)}</table></div>"
        )

    def _tasks(self, node: Tasks) -> str:
        items = (
            f"<li>{_MARKS[one.status]} {inlines_html(one.title)}"
            f"{self.nodes(one.details)}{self.nodes(one.output)}</li>"
            for one in node.tasks
        )
        title = f"<p>{inlines_html(node.title)}</p>" if node.title else ""
        return f'{title}<ul class="tasks">{"".join(items)}</ul>'

    def _chart(self, node: Chart) -> str:
        """Its numbers as a table."""
        rows = (
            f"<tr><th>{escape(series.name)}</th><td>{escape(point.label)}</td>"
            f"<td>{point.value:g}</td></tr>"
            for series in node.series
            for point in series.points
        )
        value = f"<p>{node.value:g}</p>" if node.value is not None else ""
        title = f"<caption>{escape(node.title or node.kind)}</caption>"
        return f'{value}<div class="wide"><table>{title}{"".join(rows)}</table></div>'

    def _poll(self, node: Poll) -> str:
        answers = (
            f"<li>{escape(one.emoji)} {inlines_html(one.text)}"
            f"{'' if one.votes is None else f' <b>{one.votes}</b>'}</li>"
            for one in node.answers
        )
        return (
            f'<div class="card"><h4>{inlines_html(node.question)}</h4>'
            f"<ul>{''.join(answers)}</ul></div>"
        )

    @staticmethod
    def _progress(node: Progress) -> str:
        value = "" if node.value is None else f' value="{node.value:g}"'
        label = inlines_html(node.label)
        return f'<p><progress max="{node.max:g}"{value}>{label}</progress> {label}</p>'

    # --- media ----------------------------------------------------------------------------------

    def _image(self, node: Image) -> str:
        title = inlines_html(node.title)
        alt = escape(node.asset.alt or node.asset.name or "")
        address = self._stored(node.asset)
        if address is None:
            return self._file(node.asset, title or alt)
        picture = f'<img class="{node.size}" src="{escape(address)}" alt="{alt}" loading="lazy">'
        whole = f'<a href="{escape(address)}">{picture}</a>'
        return f"<figure>{whole}{f'<figcaption>{title}</figcaption>' if title else ''}</figure>"

    def _player(self, node: Player) -> str:
        address = self._stored(node.asset)
        if address is None:
            return self._file(node.asset, inlines_html(node.title))
        media = f'<{node.kind} controls preload="none" src="{escape(address)}"></{node.kind}>'
        return f"<figure>{media}<figcaption>{inlines_html(node.title)}</figcaption></figure>"

    def _file(self, asset: Asset, title: str) -> str:
        name = title or escape(asset.name or asset.alt or asset.url or "file")
        size = f' <span class="subtle">{_readable(asset.size)}</span>' if asset.size else ""
        address = self._stored(asset)
        if address is not None:
            return f'<p class="file"><a href="{escape(address)}" download>{name}</a>{size}</p>'
        where = asset.page or asset.url
        return f'<p class="file">{self._linked(where, name)}{size}</p>'

    # --- actions --------------------------------------------------------------------------------

    def _button(self, node: Button) -> str:
        label = f"{escape(node.emoji)} {inlines_html(node.label)}".strip()
        if node.does == "open" and node.url:
            return f'<span class="button {node.style}">{link_html(node.url, label)}</span>'
        shown = f'<span class="button {node.style}">{label}</span>'
        if not node.nodes:
            return shown
        return f"<details><summary>{label}</summary>{self.nodes(node.nodes)}</details>"

    def _input(self, node: TextInput | NumberInput | DateInput | Toggle | Choice | Picker) -> str:
        match node:
            case Choice():
                chosen = set(node.values)
                options = ", ".join(
                    f"<b>{inlines_html(one.label)}</b>" if one.value in chosen
                    else inlines_html(one.label)
                    for one in node.options
                )  # fmt: skip
                return self._label(node.label, options or escape(node.placeholder))
            case Toggle():
                mark = "☑" if node.value else "☐"
                return self._label(node.label, f"{mark} {inlines_html(node.title)}")
            case Picker():
                return self._label(node.label, escape(node.placeholder or node.of))
            case _:
                value = "" if node.value in (None, "") else str(node.value)
                return self._label(node.label, escape(value or node.placeholder))

    @staticmethod
    def _label(label: Sequence[object], value: str) -> str:
        name = inlines_html(label)  # pyright: ignore[reportArgumentType]
        return f'<p class="input">{f"<span>{name}</span> " if name else ""}{value or "…"}</p>'


def _readable(size: int) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size //= 1000
    return f"{size:,} GB"
