"""Takes memory until stopped, at most 4 GiB, in the way it is told."""

import json
import mmap
import os
import sys
import time


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


BLOCK = 16 * 2**20
MOST = 4 * 2**30


def attack(wanted):
    """Take 4 GiB: of its own, shared, in many processes, or as page tables of untouched pages."""
    kept = []
    kind = wanted["kind"]
    if kind == "tables":
        # Reading a page that was never written maps one shared page of zeros: next to nothing
        # resident, but a page of page table for every 2 MiB.
        area = mmap.mmap(-1, 2**42, mmap.MAP_PRIVATE | 0x4000, mmap.PROT_READ)
        for offset in range(0, 2**42, 2**21):
            area[offset]
        return {}
    if kind == "processes":
        for _ in range(15):
            if os.fork() == 0:
                break
        block = bytearray(64 * 2**20)
        block[::4096] = b"x" * len(block[::4096])
        time.sleep(3)
        os._exit(0)
    while len(kept) * BLOCK < MOST:
        if kind == "shared":
            kept.append(mmap.mmap(-1, BLOCK, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS))
            for offset in range(0, BLOCK, 4096):
                kept[-1][offset] = 1
        else:
            kept.append(bytearray(b"x") * BLOCK)
    return {"taken": len(kept) * BLOCK}


wanted = None
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        wanted = message["options"].get("attack")
        say({"type": "ready"})
    elif message["type"] == "act":
        now, wanted = message.get("attack", wanted), None
        report = {} if now is None else attack(now)
        note = json.dumps(report)
        say({"action": message["legal"][0], "report": report, "note": note})
    elif message["type"] == "quit":
        break
