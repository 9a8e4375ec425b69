"""Inputs and charts of Adaptive Cards."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.tree import (
    Actions,
    Button,
    Chart,
    Choice,
    DateInput,
    Native,
    NumberInput,
    Option,
    Picker,
    Point,
    Prose,
    Series,
    TextInput,
    Toggle,
)
from bridge.content.text.tree import Paragraph
from tests.connectors.teams.cards import ADAPTIVE, Json, line, nodes, prose

# --- inputs ---------------------------------------------------------------------------------


def test_a_text_input_keeps_all_its_properties() -> None:
    assert nodes({
        "type": "Input.Text",
        "id": "mail",
        "label": "E-mail",
        "placeholder": "you@a.example",
        "value": "x",
        "isMultiline": True,
        "maxLength": 50,
        "regex": ".+@.+",
        "style": "Email",
        "isRequired": True,
        "errorMessage": "Needed",
    }) == (
        TextInput(
            id="mail", label=line("E-mail"), placeholder="you@a.example", value="x",
            multiline=True, max=50, pattern=".+@.+", format="email", required=True,
            error="Needed",
        ),
    )  # fmt: skip


def test_the_inline_action_of_a_text_input_is_a_button_beside_it() -> None:
    action: JsonValue = {"type": "Action.Submit", "title": "Send", "data": {}}

    assert nodes({"type": "Input.Text", "id": "x", "inlineAction": action}) == (
        Actions((TextInput(id="x"), Button(line("Send"), does="submit", value={}))),
    )


def test_number_date_and_time_inputs_are_read() -> None:
    read_nodes = nodes(
        {"type": "Input.Number", "id": "n", "value": "3", "min": 1, "max": 5.5},
        {"type": "Input.Date", "id": "d", "value": "2024-03-01", "min": "2024-01-01"},
        {"type": "Input.Time", "id": "t", "max": "17:30", "label": "When"},
        {"type": "Input.Rating", "id": "r", "value": 2, "allowHalfSteps": True},
    )

    assert read_nodes == (
        NumberInput(id="n", value=3, min=1, max=5.5),
        DateInput(id="d", value="2024-03-01", min="2024-01-01"),
        DateInput(id="t", of="time", max="17:30", label=line("When")),
        NumberInput(id="r", value=2, max=5, stars=True),
    )


def test_a_toggle_is_on_when_its_value_says_so() -> None:
    read_nodes = nodes(
        {"type": "Input.Toggle", "id": "a", "title": "Agree", "value": "true"},
        {"type": "Input.Toggle", "id": "b", "title": "B", "valueOn": "yes", "valueOff": "no",
         "value": "no"},
    )  # fmt: skip

    assert read_nodes == (
        Toggle(id="a", title=line("Agree"), value=True),
        Toggle(id="b", title=line("B"), on="yes", off="no"),
    )


CHOICES: JsonValue = [{"title": "Red", "value": "r"}, {"title": "Blue", "value": 2}]
OPTIONS = (Option(line("Red"), "r"), Option(line("Blue"), "2"))


def test_choice_sets_are_menus_or_lists() -> None:
    read_nodes = nodes(
        {"type": "Input.ChoiceSet", "id": "a", "choices": CHOICES, "value": "r"},
        {"type": "Input.ChoiceSet", "id": "b", "choices": CHOICES, "style": "expanded",
         "isMultiSelect": True, "value": "r,2"},
        {"type": "Input.ChoiceSet", "id": "c", "choices": CHOICES, "style": "filtered"},
    )  # fmt: skip

    assert read_nodes == (
        Choice(id="a", options=OPTIONS, values=("r",)),
        Choice(id="b", options=OPTIONS, values=("r", "2"), many=True, form="list"),
        Choice(id="c", options=OPTIONS),
    )


def test_choices_with_a_data_query_are_people_pickers_or_external_menus() -> None:
    def choice_set(dataset: str, **more: JsonValue) -> Json:
        query: JsonValue = {"type": "Data.Query", "dataset": dataset}
        return {"type": "Input.ChoiceSet", "id": "p", "choices.data": query, **more}

    read_nodes = nodes(
        choice_set("graph.microsoft.com/users?scope=currentContext", isMultiSelect=True),
        choice_set("npmpackages", choices=CHOICES),
    )

    assert read_nodes == (
        Picker(id="p", of="people", many=True),
        Choice(id="p", options=OPTIONS, external=True, source="npmpackages"),
    )


def test_only_a_value_changed_action_that_reaches_the_author_dispatches() -> None:
    def typed_input(kind: str) -> Json:
        return {"type": "Input.Text", "id": "x", "valueChangedAction": {"type": kind}}

    assert nodes(typed_input("Action.ResetInputs"), typed_input("Action.Execute")) == (
        TextInput(id="x"),
        TextInput(id="x", dispatches=True),
    )


# --- charts ---------------------------------------------------------------------------------


def test_pie_and_gauge_charts_have_one_series() -> None:
    data: JsonValue = [{"legend": "A", "value": 1}, {"legend": "B", "value": "2.5"}]
    pieces = (Series("", (Point("A", 1), Point("B", 2.5))),)

    read_nodes = nodes(
        {"type": "Chart.Pie", "title": "Shares", "data": data},
        {"type": "Chart.Donut", "data": data, "value": "71 %"},
        {"type": "Chart.Gauge", "value": 50, "subLabel": "so far",
         "segments": [{"legend": "Low", "size": 33}]},
    )  # fmt: skip

    assert read_nodes == (
        Chart("pie", pieces, title="Shares"),
        Chart("donut", pieces),
        Prose((Paragraph(line("71 %")),)),
        Chart("gauge", (Series("", (Point("Low", 33),)),), value=50, x_title="so far"),
    )


def test_bar_and_line_charts_have_axes() -> None:
    points: JsonValue = [{"x": "Mon", "y": 1}, {"x": 2, "y": 3}]
    several: JsonValue = [{"legend": "A", "values": points, "color": "good"}]
    read = (Point("Mon", 1), Point("2", 3))

    read_nodes = nodes(
        {"type": "Chart.VerticalBar", "data": points, "xAxisTitle": "Day", "yAxisTitle": "N"},
        {"type": "Chart.HorizontalBar", "data": points},
        {"type": "Chart.VerticalBar.Grouped", "data": several},
        {"type": "Chart.VerticalBar.Grouped", "data": several, "stacked": True},
        {"type": "Chart.Line", "data": several, "title": "T"},
    )

    assert read_nodes == (
        Chart("bar", (Series("", read),), x_title="Day", y_title="N"),
        Chart("row", (Series("", read),)),
        Chart("bar", (Series("A", read, "good"),)),
        Chart("stacked_bar", (Series("A", read, "good"),)),
        Chart("line", (Series("A", read, "good"),), title="T"),
    )


def test_the_segments_of_a_stacked_bar_chart_are_series() -> None:
    read_nodes = nodes({
        "type": "Chart.HorizontalBar.Stacked",
        "data": [
            {"title": "Mail", "data": [{"legend": "Mon", "value": 24, "color": "good"}]},
            {"title": "Chat", "data": [
                {"legend": "Mon", "value": 9}, {"legend": "Tue", "value": 1},
            ]},
        ],
    })  # fmt: skip

    series = (
        Series("Mon", (Point("Mail", 24), Point("Chat", 9)), "good"),
        Series("Tue", (Point("Chat", 1),)),
    )
    assert read_nodes == (Chart("stacked_row", series),)


def test_a_chart_without_numbers_is_kept_with_its_text() -> None:
    element: Json = {"type": "Chart.Pie", "title": "Shares", "data": [{"legend": "A"}]}

    (node,) = nodes(element)

    assert isinstance(node, Native)
    assert (node.schema_id, node.payload) == (ADAPTIVE, element)
    assert node.fallback[0] == prose("Shares")
