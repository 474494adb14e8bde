// dam-random-js: every legal action with equal chance, for Node 18 or newer and without packages.
//
// What to take from it for a bot of your own:
//
// * `choose` is the whole strategy; everything below it is the protocol and can stay as it is.
// * Reading and writing is synchronous. A bot has nothing to do between two questions, so the
//   event loop would only cost time: this way an answer takes about half as long.
// * Each match has its own generator, seeded by the runner, so a match played again goes the same
//   way. Matches are kept apart by their id, because one process serves many.
// * console.log would write into the channel, so it is pointed at standard error, the bot's log.

"use strict";

const fs = require("node:fs");

console.log = console.error;

/** Picks the action. `act` is the message as the runner sent it, `chance()` is in [0, 1). */
function choose(act, chance) {
  return act.legal[Math.floor(chance() * act.legal.length)];
}

/** A generator of numbers in [0, 1) (a Weyl sequence, mixed), good enough to play with. */
function generator(seed) {
  let state = (seed ^ Math.floor(seed / 2 ** 32)) >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

const matches = new Map();

/** The answer to one message, or undefined where none is due. */
function answer(message) {
  switch (message.type) {
    case "hello":
      return { type: "ready" };
    case "start":
      matches.set(message.match, generator(message.seed));
      return undefined;
    case "act":
      return { action: choose(message, matches.get(message.match) ?? Math.random) };
    case "end":
      matches.delete(message.match);
      return undefined;
    case "quit":
      process.exit(0);
    default:
      return undefined; // a later version may have more to say
  }
}

/** Sleeps a moment if `error` means "not now", and throws it otherwise. */
function waitIfBusy(error) {
  if (error.code !== "EAGAIN") throw error;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

/** The next bytes from the runner, at least one unless it has closed the pipe. */
function read(buffer) {
  for (;;) {
    try {
      return buffer.subarray(0, fs.readSync(0, buffer));
    } catch (error) {
      waitIfBusy(error);
    }
  }
}

function send(message) {
  let rest = Buffer.from(JSON.stringify(message) + "\n");
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(1, rest));
    } catch (error) {
      if (error.code === "EPIPE") process.exit(0); // the runner is gone
      waitIfBusy(error);
    }
  }
}

function main() {
  const buffer = Buffer.allocUnsafe(1 << 16);
  let parts = []; // the pieces of a line that has not ended yet
  for (let data = read(buffer); data.length > 0; data = read(buffer)) {
    let from = 0;
    for (let to = data.indexOf(10); to >= 0; to = data.indexOf(10, from)) {
      // Bytes become text a whole line at a time, so a letter cut in two by a read stays whole.
      parts.push(data.subarray(from, to));
      const line = parts.length > 1 ? Buffer.concat(parts) : parts[0];
      parts = [];
      from = to + 1;
      if (line.length === 0) continue;
      const reply = answer(JSON.parse(line.toString()));
      if (reply !== undefined) send(reply);
    }
    // The buffer is about to be filled again, so what is left over needs a place of its own.
    if (from < data.length) parts.push(Buffer.from(data.subarray(from)));
  }
}

main();
