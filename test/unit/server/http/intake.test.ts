/** Turns of clients, by a clock that moves when work says how long it takes. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, mock, test} from "node:test";
import {setImmediate as turn} from "node:timers/promises";
import type {Work} from "../../../../server/fairness/work.ts";
import {Intake, type Job} from "../../../../server/http/intake.ts";

let nowMs = 0;
let intake: Intake;
/** Names of the parts that ran, in order; a bar ends each turn of the event loop. */
let ran: string[];
const jobs: Job[] = [];

beforeEach(() => {
  mock.method(performance, "now", () => nowMs);
  intake = new Intake();
  ran = [];
});

afterEach(async () => {
  for (const job of jobs.splice(0)) job.work = undefined;
  await runTurns(2);
  mock.reset();
});

function* takeParts(name: string, parts: number, ms: number): Work {
  for (let part = 0; part < parts; part++) {
    if (part > 0) yield;
    ran.push(name);
    nowMs += ms;
  }
}

function start(name: string, parts: number, ms: number, client = name.slice(0, 1)): Job {
  const job = intake.start(takeParts(name, parts, ms), () => client, parts > 1 ? "body" : "short");
  jobs.push(job);
  return job;
}

async function runTurns(count: number): Promise<string> {
  for (let at = 0; at < count; at++) {
    await turn();
    ran.push("|");
  }
  return ran.join(" ");
}

test("short work is done at once, until a turn of the event loop has used its slice", async () => {
  start("a1", 1, 0.4);
  start("b1", 1, 0.7);
  assert.deepEqual(ran, ["a1", "b1"]);
  assert.equal(intake.isFree, false);
  start("c1", 1, 0.1);
  assert.deepEqual(ran, ["a1", "b1"]);
  assert.equal(await runTurns(1), "a1 b1 c1 |");
  assert.equal(intake.isFree, true);
});

test("long work leaves the thread after a slice, and goes on in the next turn of the event loop", async () => {
  start("a1", 5, 0.5);
  assert.deepEqual(ran, ["a1", "a1"]);
  assert.equal(await runTurns(3), "a1 a1 a1 a1 | a1 | |");
});

test("a client for whom the thread stood still does not wait for a round of all others", async () => {
  for (let at = 0; at < 200; at++) start(`a${at}`, 1000, 0.5, `attacker ${at}`);
  await runTurns(300);
  start("h", 1, 70, "honest");
  await runTurns(1);
  ran = [];
  start("h", 1, 0.04, "honest");
  await runTurns(100);
  assert.equal(ran.includes("h"), true);
});

test("clients with much to do have equal time, whatever a part of theirs takes", async () => {
  start("x", 1, 2);
  start("a", 8000, 0.05);
  start("b", 1000, 1);
  start("c", 1000, 5);
  for (let at = 0; at < 1000; at++) start("d", 2, 0.2);
  await runTurns(400);
  const count = (name: string) => ran.filter(one => one === name).length;
  const times = [count("a") * 0.05, count("b"), count("c") * 5, count("d") * 0.2];
  for (const ms of times) assert.ok(ms >= 75 && Math.abs(ms - (times[1] as number)) <= 10, `${times}`);
});

test("a client's jobs are done one after the other, and what is given up takes no time", async () => {
  const first = start("a1", 4, 1);
  const second = start("a2", 4, 1);
  start("a3", 1, 1);
  first.work = undefined;
  second.work = undefined;
  assert.equal(await runTurns(2), "a1 a3 | |");
  assert.equal(intake.isFree, true);
});

test("what a part costs besides its own time counts", async () => {
  function* resume(name: string): Work {
    ran.push(name);
    yield 1;
  }
  start("x", 1, 2);
  for (const name of ["a1", "a2", "a3"]) intake.start(resume(name), () => "a", "body");
  assert.equal(await runTurns(4), "x a1 | a2 | a3 | |");
});
