"""The honest tasks of tau2-bench (airline, retail) as traces: how many questions the monitor asks in each.

    scripts/bench-public tau2

No model plays: each task is carried out by the calls that its authors expect, with their own tools on their own data, and the customer says
everything at once that the authors let a simulated one know, put into the first person word by word. The person says yes to every question,
so that a task goes on. The data and the tools are those of the package inspect-evals; nothing of them is kept here.

TIDEMARK names the program. Exit status 1: something could not be played.
"""

from __future__ import annotations

import inspect
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

from inspect_ai.tool import ToolError
from inspect_evals.tau2.airline.AirlineAgentTools import AirlineAgentTools
from inspect_evals.tau2.retail.RetailAgentTools import RetailAgentTools
from inspect_evals.tau2.utils import TAU2_DATA_DIR

SUITES = {"airline": AirlineAgentTools, "retail": RetailAgentTools}
KINDS = {int: "integer", float: "number", bool: "boolean", str: "string"}

# What a simulated customer is told of itself is said by it.
FIRST = ((r"\byou are\b", "I am"), (r"\byou're\b", "I'm"), (r"\byou were\b", "I was"), (r"\byourself\b", "myself"), (r"\byours\b", "mine"),
         (r"\byour\b", "my"), (r"\b(for|to|with|of|from|at|tell|give|help|lets?|asks?) you\b", r"\1 me"), (r"\byou\b", "I"))  # fmt: skip


def first_person(text: str) -> str:
    for what, by in FIRST:
        text = re.sub(what, by, text, flags=re.IGNORECASE)
    return text


def words(task: dict[str, Any]) -> str:
    said = task["user_scenario"]["instructions"]
    if isinstance(said, str):
        return first_person(said)
    parts = (said.get(k) for k in ("known_info", "reason_for_call", "task_instructions"))
    return first_person("\n".join(p.strip() for p in parts if p))


def definitions(tools: Any) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for name, f in inspect.getmembers(tools, inspect.isfunction):
        if name.startswith("_") or name in ("initialize", "get_db_hash") or f.__qualname__.split(".")[0] != tools.__name__:
            continue
        given = {n: p for n, p in inspect.signature(f).parameters.items() if n != "self"}
        properties = {n: {"type": KINDS.get(p.annotation, "array" if "list" in str(p.annotation) else "string")} for n, p in given.items()}
        about = (inspect.getdoc(f) or name).split("\n\n")[0]
        out.append({"name": name, "description": about, "parameters": {"type": "object", "properties": properties}})
    return out


def played(suite: str, tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each task as a run, with what the tools really answer."""
    kind = SUITES[suite]
    offered = definitions(kind)
    fresh: Any = kind()
    fresh.initialize()
    world = pickle.dumps(fresh.db)  # read anew for each task: half as long as a deep copy
    for task in tasks:
        tools: Any = kind(db=pickle.loads(world), initialized=True)
        events: list[dict[str, Any]] = [{"user": words(task)}]
        for action in task["evaluation_criteria"]["actions"] or []:
            args = dict(action["arguments"])
            run = getattr(tools, action["name"], None)
            if run is None:  # shared by the suites: handing over to a person, adding up
                result: Any = "Transfer successful" if "transfer" in action["name"] else ""
            else:
                try:
                    result = run(**args)
                except (ToolError, ValueError) as e:
                    result = f"Error: {e}"
            text = result if isinstance(result, str) else json.dumps(result, default=plain)
            events.append({"call": {"tool": action["name"], "args": args}, "result": text, "answer": "approve"})
        if len(events) > 1:
            yield {"id": f"{suite}/{task['id']}", "tools": offered, "events": events}


def plain(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else str(value)


def replayed(runs: list[dict[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    """What was decided about each call, and by which rule."""
    recording = "".join(json.dumps(r, default=str) + "\n" for r in runs)
    with tempfile.TemporaryDirectory() as data:
        command = [os.environ["TIDEMARK"], "policy", "replay", "--data", data, "--format", "trace", "--json", "-"]
        lines = subprocess.run(command, input=recording, text=True, capture_output=True, check=True).stdout.splitlines()
    said: dict[str, list[tuple[str, str]]] = {r["id"]: [] for r in runs}
    for line in lines:
        row = json.loads(line)
        if "decision" in row:
            said[row["id"]].append((row["decision"], row.get("rule", "")))
    return said


def main() -> int:
    failed = 0
    for suite in SUITES:
        tasks = json.loads((TAU2_DATA_DIR / "domains" / suite / "tasks.json").read_text())
        runs = list(played(suite, tasks))
        said = replayed(runs)
        calls = sum(len(r["events"]) - 1 for r in runs)
        failed += sum(len(said[r["id"]]) != len(r["events"]) - 1 for r in runs)
        asked = [sum(d != "allow" for d, _ in said[r["id"]]) for r in runs]
        print(f"{suite}: {len(tasks)} tasks, {len(runs)} with calls, {calls} calls; without a question {asked.count(0)}; "
              f"questions a task {sum(asked) / len(runs):.2f}")  # fmt: skip
        why = Counter(rule.rpartition(".")[2] for r in runs for d, rule in said[r["id"]] if d != "allow")
        print("  what is missing: " + ", ".join(f"{rule} {n}" for rule, n in why.most_common()))
        acts = [(c["call"]["tool"], d) for r in runs for c, (d, _) in zip(r["events"][1:], said[r["id"]], strict=False)]
        for name in sorted({n for n, d in acts if d != "allow"}):
            mine = [d for n, d in acts if n == name]
            print(f"  {name}: {sum(d != 'allow' for d in mine)} of {len(mine)} asked about")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
