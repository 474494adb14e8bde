"use strict";

// Takes buffers until stopped, at most 4 GiB.

const lines = require("node:readline").createInterface({ input: process.stdin });
const kept = [];

function say(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    say({ type: "ready" });
  } else if (message.type === "act") {
    while (kept.length < 256) {
      kept.push(Buffer.alloc(16 * 2 ** 20, 1));
    }
    say({ action: message.legal[0], report: { taken: kept.length } });
  }
});
