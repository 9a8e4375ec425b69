"""Two programs of other makers that direct several agents: a LangGraph supervisor and an AutoGen
group chat. Their models are scripted. Each posts what its agents and tools say in a room, under
their names, and prints its own transcript."""

from __future__ import annotations

POSTING = r"""
import json, os, sys, uuid
import httpx

http = httpx.Client(
    base_url=os.environ["BRIDGE_URL"], timeout=60,
    headers={"Authorization": "Bearer " + os.environ["BRIDGE_TOKEN"]},
)
me = http.get("/v1/rooms").raise_for_status().json()["you"]["actor_id"]
transcript = []

def say(name, role, content):
    actor = {"id": f"{me}/{name}", "name": name, "role": role}
    body = {"actor": actor, "content": content, "message_id": str(uuid.uuid4())}
    answer = http.post("/v1/rooms/general/messages", json=body)
    assert answer.is_success, answer.text
    transcript.append([name, role, content])
"""

LANGGRAPH = (
    POSTING
    + r"""
import warnings
warnings.simplefilter("ignore")
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.prebuilt import create_react_agent
from langgraph_supervisor import create_supervisor

class Scripted(BaseChatModel):
    script: list
    def bind_tools(self, tools, **kwargs):
        return self
    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=self.script.pop(0))])
    @property
    def _llm_type(self):
        return "scripted"

def call(name, own_id, **args):
    return {"name": name, "args": args, "id": own_id, "type": "tool_call"}

@tool
def look_up(word: str) -> str:
    "Looks a word up."
    return f"{word}: 42"

looks = AIMessage("I look.", tool_calls=[call("look_up", "c2", word="answer")])
researcher = create_react_agent(
    Scripted(script=[looks, AIMessage("I found 42.")]), [look_up], name="researcher")
writer = create_react_agent(
    Scripted(script=[AIMessage("The answer, in short, is 42.")]), [], name="writer")
supervisor = Scripted(script=[
    AIMessage("", tool_calls=[call("transfer_to_researcher", "c1")]),
    AIMessage("", tool_calls=[call("transfer_to_writer", "c3")]),
    AIMessage("Done: 42."),
])
graph = create_supervisor(
    [researcher, writer], model=supervisor, output_mode="full_history").compile()
seen = set()
for state in graph.stream(
    {"messages": [HumanMessage("What is the answer?")]}, stream_mode="values", subgraphs=False
):
    for message in state["messages"]:
        if message.id in seen or isinstance(message, HumanMessage):
            continue
        seen.add(message.id)
        if isinstance(message, ToolMessage):
            say(message.name, "tool", [{
                "type": "tool_result", "tool_call_id": message.tool_call_id,
                "content": message.content}])
        else:
            text = [{"type": "text", "text": message.content}] if message.content else []
            calls = [{"type": "tool_call", "id": c["id"], "name": c["name"], "arguments": c["args"]}
                     for c in message.tool_calls]
            say(message.name, "assistant", text + calls)
print(json.dumps(transcript))
"""
)

AUTOGEN = (
    POSTING
    + r"""
import asyncio
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.replay import ReplayChatCompletionClient

def agent(name, *says):
    return AssistantAgent(name, model_client=ReplayChatCompletionClient(list(says)))

async def main():
    team = RoundRobinGroupChat(
        [agent("planner", "Plan: pack.", "Then leave."), agent("critic", "And rain?", "Good.")],
        termination_condition=MaxMessageTermination(5))
    async for message in team.run_stream(task="Plan a trip"):
        if getattr(message, "source", "user") != "user":
            say(message.source, "assistant", [{"type": "text", "text": message.content}])

asyncio.run(main())
print(json.dumps(transcript))
"""
)
