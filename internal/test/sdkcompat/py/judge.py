"""Runs conversations with the Python clients. Each line of input is a job, each line of output
what the client gave to the program; see ../judge_test.go for their fields.

The client of Gemini is not among them: it takes U+2028 for the end of a line, so that its streams
break with the mock, without anything between."""

import asyncio
import json
import sys
import time

import anthropic
import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic_ai import direct, messages
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

MOST_ROUNDS = 8  # a conversation that goes on for longer is a fault
SCHEMA = {"type": "object", "properties": {"v": {"type": "string"}}}


def patience(job):
    """How long a client waits, for a connection too: longer than the job lasts, and not five seconds on a machine that is busy."""
    return job["deadlineMs"] / 1000 + 60


def new_round():
    return {"text": "", "final": "", "calls": [], "stop": "", "whole": False}


def call(id, name, args):
    return {"id": id or "", "name": name or "", "args": args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False, separators=(",", ":"))}


class Chat:
    """OpenAI Chat Completions."""

    def __init__(self, job):
        self.stream = job["stream"]
        self.client = openai.AsyncOpenAI(api_key=job["key"], base_url=job["base"] + "/v1", max_retries=0, timeout=patience(job))
        self.list = []
        self.more = {}
        if job["tools"]:
            self.more["tools"] = [
                {"type": "function", "function": {"name": n, "description": "does " + n, "parameters": SCHEMA}} for n in job["tools"]
            ]

    def say(self, text):
        self.list.append({"role": "user", "content": text})

    def results(self, calls):
        for c in calls:
            self.list.append({"role": "tool", "tool_call_id": c["id"], "content": "done"})

    async def ask(self, r):
        ask = {"model": "gpt-judge", "messages": self.list, **self.more}
        if self.stream:
            begun = {}
            try:
                async with self.client.chat.completions.stream(**ask) as stream:
                    async for event in stream:
                        if event.type != "chunk":
                            continue
                        for choice in event.chunk.choices:
                            r["text"] += choice.delta.content or ""
                            for c in choice.delta.tool_calls or []:
                                b = begun.setdefault(c.index, call("", "", ""))
                                b["id"] = b["id"] or c.id or ""
                                if c.function:
                                    b["name"] += c.function.name or ""
                                    b["args"] += c.function.arguments or ""
                    answer = await stream.get_final_completion()
            finally:
                r["calls"] = list(begun.values())
        else:
            answer = await self.client.chat.completions.create(**ask)
        choice = answer.choices[0]
        r["final"], r["stop"] = choice.message.content or "", choice.finish_reason or ""
        r["calls"] = [call(c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls or []]
        if not self.stream:
            r["text"] = r["final"]
        said = {"role": "assistant", "content": choice.message.content or ""}
        if r["calls"]:
            said["tool_calls"] = [
                {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["args"]}} for c in r["calls"]
            ]
        self.list.append(said)


class Responses:
    """OpenAI Responses."""

    def __init__(self, job):
        self.stream = job["stream"]
        self.client = openai.AsyncOpenAI(api_key=job["key"], base_url=job["base"] + "/v1", max_retries=0, timeout=patience(job))
        self.list = []
        self.more = {}
        if job["tools"]:
            self.more["tools"] = [
                {"type": "function", "name": n, "description": "does " + n, "parameters": SCHEMA, "strict": False} for n in job["tools"]
            ]

    def say(self, text):
        self.list.append({"role": "user", "content": text})

    def results(self, calls):
        for c in calls:
            self.list.append({"type": "function_call_output", "call_id": c["id"], "output": "done"})

    async def ask(self, r):
        ask = {"model": "gpt-judge", "input": self.list, "store": False, **self.more}
        if self.stream:
            begun = {}
            try:
                async with self.client.responses.stream(**ask) as stream:
                    async for event in stream:
                        if event.type == "response.output_text.delta":
                            r["text"] += event.delta
                        elif event.type == "response.output_item.added" and event.item.type == "function_call":
                            begun[event.output_index] = call(event.item.call_id, event.item.name, event.item.arguments)
                        elif event.type == "response.function_call_arguments.delta":
                            begun[event.output_index]["args"] += event.delta
                    answer = await stream.get_final_response()
            finally:
                r["calls"] = list(begun.values())
        else:
            answer = await self.client.responses.create(**ask)
        r["final"], r["stop"] = answer.output_text, answer.status or ""
        r["calls"] = [call(i.call_id, i.name, i.arguments) for i in answer.output if i.type == "function_call"]
        if not self.stream:
            r["text"] = r["final"]
        self.list += [i.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for i in answer.output]


class Messages:
    """Anthropic Messages."""

    def __init__(self, job):
        self.stream = job["stream"]
        self.client = anthropic.AsyncAnthropic(api_key=job["key"], base_url=job["base"], max_retries=0, timeout=patience(job))
        self.list = []
        self.more = {}
        if job["tools"]:
            self.more["tools"] = [{"name": n, "description": "does " + n, "input_schema": SCHEMA} for n in job["tools"]]

    def say(self, text):
        self.list.append({"role": "user", "content": text})

    def results(self, calls):
        self.list.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": c["id"], "content": "done"} for c in calls]})

    async def ask(self, r):
        ask = {"model": "claude-judge", "max_tokens": 1024, "messages": self.list, **self.more}
        if self.stream:
            begun = {}
            try:
                async with self.client.messages.stream(**ask) as stream:
                    async for event in stream:
                        if event.type == "content_block_start" and event.content_block.type == "tool_use":
                            begun[event.index] = call(event.content_block.id, event.content_block.name, "")
                        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                            r["text"] += event.delta.text
                        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                            begun[event.index]["args"] += event.delta.partial_json
                    answer = await stream.get_final_message()
            finally:
                r["calls"] = list(begun.values())
        else:
            answer = await self.client.messages.create(**ask)
        r["final"], r["stop"] = "".join(b.text for b in answer.content if b.type == "text"), answer.stop_reason or ""
        r["calls"] = [call(b.id, b.name, b.input) for b in answer.content if b.type == "tool_use"]
        if not self.stream:
            r["text"] = r["final"]
        self.list.append({"role": "assistant", "content": [b.model_dump(include={"type", "text", "id", "name", "input"}) for b in answer.content]})


class LangChain:
    """LangChain's chat models, over the clients of OpenAI and Anthropic."""

    def __init__(self, job, model):
        self.stream = job["stream"]
        tools = [{"type": "function", "function": {"name": n, "description": "does " + n, "parameters": SCHEMA}} for n in job["tools"]]
        self.model = model.bind_tools(tools) if tools else model
        self.list = []

    def say(self, text):
        self.list.append(HumanMessage(text))

    def results(self, calls):
        self.list += [ToolMessage("done", tool_call_id=c["id"]) for c in calls]

    async def ask(self, r):
        if self.stream:
            answer = None
            async for chunk in self.model.astream(self.list):
                r["text"] += chunk.text if isinstance(chunk.text, str) else chunk.text()
                answer = chunk if answer is None else answer + chunk
        else:
            answer = await self.model.ainvoke(self.list)
        r["final"] = answer.text if isinstance(answer.text, str) else answer.text()
        r["calls"] = [call(c["id"], c["name"], c["args"]) for c in answer.tool_calls]
        r["stop"] = str(answer.response_metadata.get("finish_reason") or answer.response_metadata.get("stop_reason") or "")
        if not self.stream:
            r["text"] = r["final"]
        self.list.append(answer)


def langchain_chat(job):
    return LangChain(job, ChatOpenAI(model="gpt-judge", api_key=job["key"], base_url=job["base"] + "/v1", max_retries=0, timeout=patience(job), use_responses_api=False))


def langchain_messages(job):
    return LangChain(job, ChatAnthropic(model="claude-judge", api_key=job["key"], base_url=job["base"], max_retries=0, timeout=patience(job), max_tokens=1024))


class PydanticAI:
    """Pydantic AI's models, asked directly."""

    def __init__(self, job, model):
        self.model, self.stream = model, job["stream"]
        tools = [ToolDefinition(name=n, description="does " + n, parameters_json_schema=SCHEMA) for n in job["tools"]]
        self.parameters = ModelRequestParameters(function_tools=tools, allow_text_output=True)
        self.list = []

    def say(self, text):
        self.list.append(messages.ModelRequest(parts=[messages.UserPromptPart(text)]))

    def results(self, calls):
        parts = [messages.ToolReturnPart(tool_name=c["name"], content="done", tool_call_id=c["id"]) for c in calls]
        self.list.append(messages.ModelRequest(parts=parts))

    async def ask(self, r):
        ask = {"model": self.model, "messages": self.list, "model_request_parameters": self.parameters}
        if self.stream:
            async with direct.model_request_stream(**ask) as stream:
                async for event in stream:
                    if isinstance(event, messages.PartStartEvent) and isinstance(event.part, messages.TextPart):
                        r["text"] += event.part.content
                    if isinstance(event, messages.PartDeltaEvent) and isinstance(event.delta, messages.TextPartDelta):
                        r["text"] += event.delta.content_delta
                answer = stream.get() if not asyncio.iscoroutinefunction(stream.get) else await stream.get()
        else:
            answer = await direct.model_request(**ask)
        r["final"] = "".join(p.content for p in answer.parts if isinstance(p, messages.TextPart))
        r["stop"] = str((answer.provider_details or {}).get("finish_reason") or "")
        r["calls"] = [call(p.tool_call_id, p.tool_name, p.args) for p in answer.parts if isinstance(p, messages.ToolCallPart)]
        if not self.stream:
            r["text"] = r["final"]
        self.list.append(answer)


def pydantic_chat(job):
    client = openai.AsyncOpenAI(api_key=job["key"], base_url=job["base"] + "/v1", max_retries=0, timeout=patience(job))
    return PydanticAI(job, OpenAIChatModel("gpt-judge", provider=OpenAIProvider(openai_client=client)))


def pydantic_messages(job):
    client = anthropic.AsyncAnthropic(api_key=job["key"], base_url=job["base"], max_retries=0, timeout=patience(job))
    return PydanticAI(job, AnthropicModel("claude-judge", provider=AnthropicProvider(anthropic_client=client)))


TALKS = {
    "chat": Chat, "responses": Responses, "messages": Messages,
    "langchain-chat": langchain_chat, "langchain-messages": langchain_messages,
    "pydantic-chat": pydantic_chat, "pydantic-messages": pydantic_messages,
}


def describe(err):
    header = getattr(getattr(err, "response", None), "headers", None) or {}
    status = getattr(err, "status_code", None) or getattr(err, "code", None)
    return {
        "kind": type(err).__name__, "status": status if isinstance(status, int) else 0,
        "retryAfter": header.get("retry-after") or "", "limit": header.get("x-ratelimit-limit-requests") or "",
        "message": (str(err) if status else f"{err} {err.__cause__ or ''}")[:400],
    }


async def converse(job, rounds):
    talk = TALKS[job["kind"]](job)
    for prompt in job["prompts"]:
        talk.say(prompt)
        while True:
            if len(rounds) >= MOST_ROUNDS:
                raise RuntimeError("the conversation does not end")
            r = new_round()
            rounds.append(r)
            await talk.ask(r)
            r["whole"] = True
            if not r["calls"]:
                break
            talk.results(r["calls"])


async def run(job, out):
    began, rounds, fault, expired = time.monotonic(), [], None, False
    try:
        async with asyncio.timeout(job["deadlineMs"] / 1000):
            await converse(job, rounds)
    except TimeoutError as err:
        fault, expired = describe(err), True
    except Exception as err:  # whatever a client raises is what a program gets
        fault = describe(err)
    ms = round((time.monotonic() - began) * 1000)
    out.write(json.dumps({"id": job["id"], "rounds": rounds, "error": fault, "expired": expired, "ms": ms}) + "\n")
    out.flush()


async def main():
    loop, running = asyncio.get_running_loop(), set()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        task = asyncio.create_task(run(json.loads(line), sys.stdout))
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)


asyncio.run(main())
