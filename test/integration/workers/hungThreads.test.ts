/** Threads of an engine that give no sign of life: they are lost, and the engine goes on with others. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {closeSync, constants, openSync, rmSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {before, test} from "node:test";
import {NOTE_DRAFT_FILE, NOTE_FILE} from "../../../storage/directory/acknowledgedNote.ts";
import {Engine} from "../../../workers/engine.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {ACCOUNTS, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {proveCalls} from "../../support/stores/proveCalls.ts";
import {waitUntil} from "../../support/wait.ts";

const folder = new WorkFolder();
let directory: string;
const lost: string[] = [];

before(async () => {
  directory = await folder.importChain("db", 4, 4);
});

function openEngine(hangMs: number): Promise<Engine> {
  lost.length = 0;
  const onWorkerExit = (error: Error): void => void lost.push(error.message);
  return Engine.open({
    ...{directory, workers: 1, cacheBytes: 1 << 20, createIfMissing: false, hangMs, onWorkerExit},
  });
}

test("a proof thread that answers nothing for too long is lost with its job, and another one proves", async t => {
  const engine = await openEngine(500);
  const address = ACCOUNTS[0] as string;
  const short = {block: 4, address, slots: [0n]};
  /** A busy machine may take longer for a short proof too, once. */
  const proveShort = () =>
    waitUntil("a proof", async () => (await proveCalls(engine, [short]).catch(() => [])).length === 1);
  t.after(() => engine.close());
  await proveShort();
  const slots = Array.from({length: 500}, (_, slot) => BigInt(slot));
  const long = Array.from({length: 64}, () => ({block: 4, address, slots}));
  const message = "the proof thread was lost: it has not answered for 500 ms";
  await assert.rejects(proveCalls(engine, long), {message});
  assert.equal(engine.readThreads()[0]?.state, "down");
  assert.equal(lost[0], message);
  await proveShort();
});

test("an import thread that hangs in a system call is lost, writes nothing more, and the next one goes on", async () => {
  const engine = await openEngine(2000);
  const draft = join(directory, NOTE_DRAFT_FILE);
  const path = folder.file("blocks.ndjson");
  const importFile = () =>
    engine.startImport({source: {kind: "diffs", path}, allowUnverified: true, finalized: 7}, () => {});
  writeFileSync(path, encodeLines([createLine(4), ...createLines(5, 7)]));
  try {
    // The thread waits for a reader of the file that it makes.
    rmSync(join(directory, NOTE_FILE));
    execFileSync("mkfifo", [draft]);
    let isOver = false;
    const outcome = assert
      .rejects(importFile().outcome, {
        message: "the import thread was lost: it has not answered for 2000 ms",
      })
      .finally(() => {
        isOver = true;
      });
    await waitUntil("it is lost", () => lost.length > 0);
    assert.equal(engine.readThreads().find(({kind}) => kind === "import")?.state, "down");
    // Otherwise another thread could write what this one writes.
    assert.equal(isOver, false);
    closeSync(openSync(draft, constants.O_RDONLY | constants.O_NONBLOCK));
    await outcome;
    rmSync(draft);
    await waitUntil("it may start again", () =>
      engine.readThreads().every(({state}) => state === "up" || state === "off"),
    );
    const {ok, head} = await importFile().outcome;
    assert.deepEqual([ok, head.latest, head.finalized], [true, 7, 7]);
  } finally {
    await engine.close();
  }
  assert.deepEqual((await checkStore(directory)).found, []);
});
