/** `import --head`: the last block of a source is checked by its hash, which nothing else vouches for. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {createLine, diffsFlags, hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {chainArgs, EXTRA_DATA, writeShortChain} from "../../support/chains/shortChain.ts";
import {runHere} from "../../support/processes/ownCommand.ts";

const folder = new WorkFolder();

test("import --head takes a source that ends there, and of another one all but its last block", async () => {
  const lines = encodeLines([createLine(0), createLine(1, 1), createLine(2)]);
  const importTo = async (name: string, head: string, text: string) => {
    const [db, path] = [folder.file(name), folder.file(`${name}.ndjson`)];
    await writeFile(path, text);
    return runHere(["import", ...diffsFlags(db, path), "--head", head, "--finalized", "last"]);
  };
  const right = await importTo("head", hashOfBlock(2), lines);
  assert.equal(
    right.stdout,
    `imported 3 blocks; the store has blocks 0 to 2, finalized up to 2; head: block 2, ${hashOfBlock(2)}\n`,
    right.stderr,
  );
  const wrong = await importTo("wrong", hashOfBlock(9), lines);
  assert.equal(wrong.code, 1);
  assert.ok(
    wrong.stderr.includes(
      `error: expected the source to end at the head ${hashOfBlock(9)}, got block 2 (${hashOfBlock(2)})\n`,
    ),
    wrong.stderr,
  );
  // Not even what a line says is final, before the source has shown that it is the right one.
  assert.match(
    wrong.stderr,
    /imported 2 blocks; the store has blocks 0 to 1, none is finalized; head: block 1, /,
  );
  const beyond = await importTo("beyond", hashOfBlock(1), lines);
  assert.equal(beyond.code, 1);
  assert.match(
    beyond.stderr,
    /expected the source to end at block 1, the head that --head names, got block 2 after it/,
  );
  assert.match(beyond.stderr, /the store has blocks 0 to 1, finalized up to 1/);
  const none = await importTo("none", hashOfBlock(1), "");
  assert.match(none.stderr, /expected the source to end at the head 0x.*, got no block/);
  assert.equal(existsSync(folder.file("none")), false);
  const short = await runHere(["import", ...diffsFlags(folder.file("x"), "-"), "--head", "0x12"]);
  assert.equal(short.code, 2);
  assert.match(short.stderr, /argument '0x12' is invalid. Expected a hash/);
});

test("import --head refuses a chain whose last block was changed, and keeps the blocks before it", async () => {
  const [whole, changed] = [folder.file("whole.rlp"), folder.file("changed.rlp")];
  const target = folder.file("target");
  const first = await runHere(["import", "--db", target, ...(await writeShortChain(whole))]);
  const head = /head: block 3, (0x[0-9a-f]{64})$/m.exec(first.stdout)?.[1] as string;
  assert.ok(head !== undefined, first.stderr);
  const args = await writeShortChain(changed, fields => {
    fields[EXTRA_DATA] = new Uint8Array([1, 2, 3]);
  });
  const again = folder.file("again");
  const {code, stderr} = await runHere(["import", "--db", again, ...args, "--head", head]);
  assert.equal(code, 1);
  assert.match(stderr, /expected the source to end at the head 0x.*, got block 3 \(0x/);
  assert.match(stderr, /imported 3 blocks; the store has blocks 0 to 2/);
  const right = await runHere(["import", "--db", again, "--head", head, ...chainArgs(whole)]);
  assert.match(right.stdout, /^imported 1 block, 3 already in the store; .* head: block 3, /);
});
