/** Threads that die, and that cannot start: what happens to their jobs, when they are started again, and who is told. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {closeSync, existsSync, openSync, rmSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {after, afterEach, before, test} from "node:test";
import {
  freestOf,
  SupervisedThread,
  ThreadLost,
  type ThreadSettings,
  ThreadsDown,
} from "../../../workers/threads/supervisor.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";
import {feelPulse, noteOf, type Trouble, type TroubledJob} from "../../support/threads/troubledWorker.ts";
import {waitUntil} from "../../support/wait.ts";

const folder = makeTemporaryFolder();
let broken: string;
let pipe: string;
let lost: string[] = [];
const open: {destroy(): Promise<void>}[] = [];

before(() => {
  broken = join(folder, "broken");
  pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
});

afterEach(async () => {
  // A test that failed may have left a thread that hangs.
  if (existsSync(noteOf(pipe))) release();
  await Promise.all(open.splice(0).map(one => one.destroy()));
  rmSync(broken, {force: true});
  lost = [];
});

after(() => rmSync(folder, {recursive: true}));

function settingsOf(
  change: Partial<ThreadSettings<TroubledJob, string>> = {},
): ThreadSettings<TroubledJob, string> {
  const workerData: Trouble = {broken, pipe};
  const module = new URL("../../support/threads/troubledWorker.js", import.meta.url);
  return {kind: "troubled", module, workerData, begin: run => run("answer"), ...change};
}

function createThread(
  change?: Partial<ThreadSettings<TroubledJob, string>>,
): SupervisedThread<TroubledJob, string> {
  const thread = new SupervisedThread(settingsOf(change), error => lost.push(error.message));
  open.push(thread);
  return thread;
}

/** Ends the system call of a thread that hangs, when it has begun. */
function release(): void {
  rmSync(noteOf(pipe));
  closeSync(openSync(pipe, "w"));
}

/**
 * Waits until a thread without jobs has ended. Piscina loses the timer of an idle thread if an answer is read in the turn in
 * which a job is posted; the next job sets it again.
 */
async function waitUntilOff(thread: SupervisedThread<TroubledJob, string>): Promise<void> {
  await waitUntil(
    "the thread is off",
    async () => thread.state === "off" || (await thread.run("answer")) !== "answered",
  );
}

/** A job that hangs, and is found out. */
const HANG = ["hang", {limitMs: 20, pulse: () => feelPulse(pipe)}] as const;

test("a job that the work refuses leaves its thread as it is", async () => {
  const thread = createThread();
  await thread.start();
  await assert.rejects(thread.run("refuse"), {name: "RangeError", message: "refused"});
  assert.equal(thread.state, "up");
  assert.equal(await thread.run("answer"), "answered");
  assert.deepEqual(lost, []);
});

test("a thread that dies ends its jobs and those that wait for it, is reported once, and is up again", async () => {
  const thread = createThread();
  await thread.start();
  const jobs = await Promise.allSettled([thread.run("exit"), thread.run("answer"), thread.run("answer")]);
  for (const job of jobs) {
    assert.equal(job.status, "rejected");
    assert.ok(job.reason instanceof ThreadLost, String(job.reason));
    assert.match(job.reason.message, /^the troubled thread was lost: .*3/);
  }
  assert.equal(await thread.run("answer"), "answered");
  assert.equal(thread.state, "up");
  assert.equal(lost.length, 1);
  assert.match(lost[0] as string, /exited with code: 3/);
});

test("a thread that cannot start again is down: its jobs end at once, and it comes back when the cause is gone", async () => {
  const thread = createThread();
  await thread.start();
  writeFileSync(broken, "");
  await assert.rejects(thread.run("exit"), ThreadLost);
  await waitUntil("the thread is down", () => thread.state === "down");
  await assert.rejects(thread.run("answer"), {
    name: "ThreadLost",
    message: "the troubled thread is down: it is broken",
  });
  const states = new Set<string>();
  await waitUntil("it was tried several times", () => {
    states.add(thread.state);
    return lost.length >= 4;
  });
  assert.deepEqual([...states], ["down"]);
  assert.equal(thread.jobs, 0);
  rmSync(broken);
  await waitUntil("the thread is up", () => thread.state === "up");
  assert.equal(await thread.run("answer"), "answered");
});

test("a job that waits while its thread starts ends when the thread cannot", async () => {
  writeFileSync(broken, "");
  const thread = createThread();
  const starting = assert.rejects(thread.start(), {message: "the troubled thread was lost: it is broken"});
  await assert.rejects(thread.run("answer"), {message: "the troubled thread was lost: it is broken"});
  await starting;
});

test("a thread that starts with its first job ends when it has nothing to do, and nobody is told", async () => {
  const thread = createThread({begin: undefined as never, idleMs: 1});
  assert.equal(thread.state, "off");
  assert.equal(await thread.run("answer"), "answered");
  await waitUntilOff(thread);
  assert.equal(await thread.run("answer"), "answered");
  assert.deepEqual(lost, []);
});

test("a thread that starts with its first job is up while that job lasts", async () => {
  const thread = createThread({begin: undefined as never});
  const job = assert.rejects(thread.run("wait"));
  await waitUntil("the thread is up", () => thread.state === "up");
  await thread.destroy();
  await job;
});

test("a thread that starts with its first job and cannot says so to each job, and can later", async () => {
  writeFileSync(broken, "");
  const thread = createThread({begin: undefined as never, idleMs: 1});
  await assert.rejects(thread.run("answer"), ThreadLost);
  await assert.rejects(thread.run("answer"), ThreadLost);
  rmSync(broken);
  await waitUntil("a pause is over", () => thread.state !== "down");
  assert.equal(await thread.run("answer"), "answered");
});

test("a job that takes longer than its limit has stuck the thread: it ends with an error, and another thread starts", async () => {
  const thread = createThread();
  await thread.start();
  const jobs = await Promise.allSettled([thread.run("wait", {limitMs: 1}), thread.run("answer")]);
  for (const job of jobs) {
    assert.equal(job.status, "rejected");
    assert.match(
      String(job.reason),
      /^ThreadLost: the troubled thread was lost: its job took more than 1 ms$/,
    );
  }
  await waitUntil("another is up", () => thread.state === "up");
  assert.equal(await thread.run("answer", {limitMs: 60_000}), "answered");
  assert.equal(lost.length, 1);
});

test("a job whose pulse goes on, or that has nothing to do, may take any time", async () => {
  const thread = createThread();
  await thread.start();
  for (const pulse of [(beat: number) => beat, () => undefined]) {
    let beats = 0;
    const job = assert.rejects(thread.run("wait", {limitMs: 20, pulse: () => pulse(beats++)}));
    await waitUntil("its pulse was felt", () => beats > 40);
    assert.equal(thread.state, "up");
    await thread.rest();
    await job;
    await thread.start();
  }
  assert.deepEqual(lost, []);
});

test("a thread that hangs in a system call is down until another one is up, and the end waits for it", async () => {
  const thread = createThread();
  await thread.start();
  await assert.rejects(thread.run(...HANG), {
    message: "the troubled thread was lost: it has not answered for 20 ms",
  });
  assert.equal(thread.state, "down");
  await waitUntil("another is up", () => thread.state === "up");
  assert.equal(await thread.run("answer"), "answered");
  let isClosed = false;
  const closing = thread.close().finally(() => {
    isClosed = true;
  });
  // Takes longer than the end of a thread that does not hang.
  const other = createThread();
  await other.start();
  assert.equal(isClosed, false);
  release();
  await closing;
});

test("while a thread and the one in its place hang, no third one starts", async () => {
  const thread = createThread();
  await thread.start();
  await assert.rejects(thread.run(...HANG), ThreadLost);
  await waitUntil("another is up", () => thread.state === "up");
  rmSync(noteOf(pipe));
  await assert.rejects(thread.run(...HANG), ThreadLost);
  const other = createThread();
  await other.start();
  await assert.rejects(other.run("exit"), ThreadLost);
  await waitUntil("the other is up again", () => other.state === "up");
  assert.equal(thread.state, "down");
  release();
  await waitUntil("a third is up", () => thread.state === "up");
});

test("the job of a thread that writes ends with its thread, and no other writes meanwhile", async () => {
  const thread = createThread({begin: undefined as never, isWriter: true});
  let isOver = false;
  const job = assert.rejects(thread.run(...HANG), ThreadLost).finally(() => {
    isOver = true;
  });
  await waitUntil("it is lost", () => lost.length > 0);
  const other = createThread();
  await other.start();
  assert.deepEqual([thread.state, isOver], ["down", false]);
  await assert.rejects(thread.run("answer"), {message: /is down: it has not answered for 20 ms$/});
  release();
  await job;
  await waitUntil("it may start", () => thread.state === "off");
  assert.equal(await thread.run("answer"), "answered");
});

test("failures before a thread ended because it was idle do not count", async () => {
  const thread = createThread({begin: undefined as never, idleMs: 1});
  for (let count = 0; count < 2; count++) await assert.rejects(thread.run("exit"), ThreadLost);
  await waitUntil("the pause is over", () => thread.state === "off");
  for (let count = 0; count < 2; count++) {
    const jobs = [thread.run("answer"), thread.run("answer")];
    assert.equal(thread.state, "starting");
    assert.deepEqual(await Promise.all(jobs), ["answered", "answered"]);
    await waitUntilOff(thread);
  }
  await assert.rejects(thread.run("exit"), ThreadLost);
  assert.equal(thread.state, "off", "no pause");
  await waitUntil("it is reported", () => lost.length === 3);
});

test("a thread that is destroyed ends its job, and starts no other", async () => {
  const thread = createThread();
  await thread.start();
  const job = assert.rejects(thread.run("wait"));
  await thread.destroy();
  await job;
  await assert.rejects(thread.run("answer"), {message: "the troubled thread is closed"});
  assert.deepEqual(lost, []);
});

test("while one of two threads is down, the other has all jobs; while both are, jobs end at once", async () => {
  const threads = [createThread(), createThread()];
  await Promise.all(threads.map(thread => thread.start()));
  writeFileSync(broken, "");
  await assert.rejects(freestOf(threads).run("exit"), ThreadLost);
  await waitUntil("one is down", () => threads.some(thread => thread.state === "down"));
  for (let at = 0; at < 4; at++) assert.equal(await freestOf(threads).run("answer"), "answered");
  await assert.rejects(freestOf(threads).run("exit"), ThreadLost);
  await waitUntil("both are down", () => threads.every(thread => thread.state === "down"));
  await assert.rejects(freestOf(threads).run("answer"), (error: Error) => {
    assert.ok(error instanceof ThreadsDown);
    assert.match(error.message, /is down: it is broken/);
    return true;
  });
});
