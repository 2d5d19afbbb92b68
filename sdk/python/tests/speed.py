"""How fast the SDK is beside what it cannot be faster than. Prints, and asserts nothing: a busy machine is not a fault.

TIDEMARK=bin/tidemark python tests/speed.py
"""

from __future__ import annotations

import asyncio
import http.client
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from conftest import ANNA, PAGE, Server

from tidemark_sdk import Session

IMPORT = "import time; t = time.process_time(); import tidemark_sdk; print(time.process_time() - t)"  # processor time
CALL = ("read", {"path": "a.txt"})
BODY = '{"ctx":{"sessionKey":"bare"},"event":{"params":{"path":"a.txt"},"toolCallId":"c","toolName":"read"}}'
HELD = 60


def main() -> None:
    server = Server(Path(tempfile.mkdtemp(prefix="tidemark-speed-")))
    try:
        print(f"load of the machine       {os.getloadavg()[0]:6.1f}")
        print(f"import tidemark_sdk       {imported():6.1f} ms  (limit 50)")
        bare, ours = decisions(server)
        print(f"a decision, bare HTTP     {bare:6.2f} ms")
        print(f"a decision, SDK           {ours:6.2f} ms  ({ours - bare:+.2f}, limit +1.5)")
        (alone, worst), (beside, worst_beside) = asyncio.run(held(server))
        print(f"a decision, asyncio       {alone:6.2f} ms  (slowest of 50 {worst:.1f})")
        print(f"the same, {HELD} calls held   {beside:6.2f} ms  (slowest of 50 {worst_beside:.1f}; limit +100)")
    finally:
        server.stop()


def imported() -> float:
    return 1e3 * min(float(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(5))


def decisions(server: Server) -> tuple[float, float]:
    session = server.monitor(wait=0).session("ours", ANNA)
    session.begin("Read a.txt")
    server.monitor(wait=0).session("bare", ANNA).begin("Read a.txt")
    wire = http.client.HTTPConnection(server.url.removeprefix("http://"))
    headers = {"Authorization": "Bearer " + server.tokens["agent"], "Content-Type": "application/json"}

    def bare() -> None:
        wire.request("POST", "/v1/hooks/before_tool_call", BODY, headers)
        wire.getresponse().read()

    def ours() -> None:
        assert session.decide(*CALL, "c"), "it was refused"

    took: dict[Callable[[], None], list[float]] = {bare: [], ours: []}
    for _ in range(200):  # in turn, so that both meet the same machine
        for f, times in took.items():
            start = time.perf_counter()
            f()
            times.append(time.perf_counter() - start)
    return 1e3 * median(took[bare]), 1e3 * median(took[ours])


async def held(server: Server) -> list[tuple[float, float]]:
    monitor = server.monitor(wait=120)
    session, other = monitor.session("held", ANNA), monitor.session("other", ANNA)
    await session.abegin("Read the page and tell me when lunch is")
    await session.areport("web_fetch", {"url": "https://lunch.example"}, PAGE, "c0")
    await other.abegin("Read a.txt")
    alone = await one_by_one(other)
    calls = [asyncio.create_task(session.adecide("send_email", {"to": f"eve{i}@drop.example"}, f"c{i}")) for i in range(HELD)]
    await asyncio.to_thread(server.questions, "held", HELD)
    beside = await one_by_one(other)
    for c in calls:
        c.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await monitor.aclose()
    return [alone, beside]


async def one_by_one(session: Session) -> tuple[float, float]:
    took: list[float] = []
    for _ in range(50):
        start = time.perf_counter()
        assert await session.adecide(*CALL, "c"), "it was refused"
        took.append(1e3 * (time.perf_counter() - start))
    return median(took), max(took)


if __name__ == "__main__":
    main()
