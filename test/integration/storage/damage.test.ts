/** A damaged store answers with the right proof or with a named failure, never with a wrong proof; check names the place. */
import assert from "node:assert/strict";
import {cp, readdir, readFile, rm, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {decodeBlockRecord, encodeBlockRecord} from "../../../storage/block/blockRecord.ts";
import {SUITE_NAMES, type SuiteName} from "../../../storage/hash/suiteNames.ts";
import {BUCKET, entryAt, entryCount, keyBytes} from "../../../storage/page/indexPage.ts";
import {childCount, INNER_PAGE, innerRowAt} from "../../../storage/page/innerPage.ts";
import {openRecord, sealRecord} from "../../../storage/record/record.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {Prover} from "../../../workers/prove/prover.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {addressAt, longChain} from "../../support/chains/longChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {propertyRuns, sampleOf} from "../../support/soak.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importSource, openEngine} from "../../support/stores/importedStore.ts";
import {type ProveCall, proveCalls} from "../../support/stores/proveCalls.ts";
import {removeBlockRecord, tamper} from "../../support/stores/tamper.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

const BLOCKS = 4;
const chain = longChain(BLOCKS, 60);
const calls: ProveCall[] = Array.from({length: BLOCKS}, (_, block) => block).flatMap(block =>
  Array.from({length: 40}, (_, i) => ({block, address: addressAt(i * 7), slots: [0n, BigInt(i * 7)]})),
);

interface WholeStore {
  readonly directory: string;
  readonly expected: readonly string[];
}

const folder = makeTemporaryFolder();
let stores: Readonly<Record<SuiteName, WholeStore>>;
before(async () => {
  await writeFile(join(folder, "chain.ndjson"), encodeLines(chain));
  stores = {sha256: await importWhole("sha256"), poseidon2: await importWhole("poseidon2")};
});

async function importWhole(suite: SuiteName): Promise<WholeStore> {
  const directory = join(folder, `whole-${suite}`);
  const source = {kind: "diffs", path: join(folder, "chain.ndjson")} as const;
  await importSource(directory, source, {suite, finalized: "last"});
  const expected = await proveHere(directory);
  assert.ok(expected.every(text => text.startsWith("{")));
  // Opening writes the log out as a table file.
  await (await openEngine(directory)).close();
  return {directory, expected};
}

/** Proves the calls in this thread: a proof thread costs 0.3 s of processor time for each store. */
async function proveHere(directory: string): Promise<readonly string[]> {
  const store = await StateStore.open({directory, role: "owner", cacheBytes: 1 << 20});
  try {
    const prover = new Prover(store.reader);
    return await proveCalls({prove: (job, onSettled) => onSettled({answers: prover.answer(job)})}, calls);
  } finally {
    await store.close();
  }
}

async function copyOfStore(name: string, suite: SuiteName = "sha256"): Promise<string> {
  const directory = join(folder, name);
  await cp(stores[suite].directory, directory, {recursive: true});
  return directory;
}

async function findings(directory: string): Promise<readonly string[]> {
  return (await checkStore(directory)).found;
}

/** @returns how many answers were right and how many calls failed by name */
async function proveAll(
  directory: string,
  suite: SuiteName = "sha256",
): Promise<{right: number; failed: number}> {
  const answers = await proveHere(directory);
  let right = 0;
  for (const [i, answer] of answers.entries()) {
    if (answer.startsWith("{")) {
      assert.equal(answer, stores[suite].expected[i]);
      right++;
    } else assert.equal(answer, "DAMAGED");
  }
  return {right, failed: answers.length - right};
}

// Of sha256 only where it does not soak: a page's checksum is the same one in both suites.
for (const suite of sampleOf(SUITE_NAMES, 2))
  test(`${suite}: a bit flipped in any page fails the proofs that need the page by name, and check names the page`, async () => {
    const directory = await copyOfStore(`pages-${suite}`, suite);
    const pages: Buffer[] = [];
    await tamper(directory, async db => {
      for await (const key of db.keys({gte: Buffer.from("p"), lt: Buffer.from("q")})) pages.push(key);
    });
    let failed = 0;
    for (let i = 0; i < pages.length; i += Math.ceil(pages.length / propertyRuns(3))) {
      const key = pages[i] as Buffer;
      let original: Buffer = Buffer.alloc(0);
      await tamper(directory, async db => {
        original = (await db.get(key)) as Buffer;
        const flipped = Buffer.from(original);
        flipped[(i * 31) % flipped.length] = (flipped[(i * 31) % flipped.length] as number) ^ (1 << (i % 8));
        await db.put(key, flipped);
      });
      failed += (await proveAll(directory, suite)).failed;
      const found = await findings(directory);
      const page = key.readUIntBE(1, 6);
      assert.ok(
        found.some(text => text.includes(`page ${page}: RECORD_DAMAGED: page ${page}: checksum`)),
        `page ${page}: ${found.join("; ")}`,
      );
      await tamper(directory, db => db.put(key, original));
    }
    assert.ok(failed > 0, "none of the proofs needed any of the pages");
    assert.deepEqual(await findings(directory), []);
  });

test("a page that is gone, or stands under another's number, fails by name", async () => {
  const directory = await copyOfStore("gone");
  let pages: Buffer[] = [];
  await tamper(directory, async db => {
    pages = await db.keys({gte: Buffer.from("p"), lt: Buffer.from("q")}).all();
    await db.del(pages.at(-1) as Buffer);
    await db.put(pages.at(-3) as Buffer, (await db.get(pages.at(-4) as Buffer)) as Buffer);
  });
  const {failed} = await proveAll(directory);
  assert.ok(failed > 0);
  const found = (await findings(directory)).join("\n");
  assert.match(
    found,
    new RegExp(`RECORD_MISSING: page ${pages.at(-1)?.readUIntBE(1, 6)} is not in the store`),
  );
  assert.match(found, new RegExp(`page ${pages.at(-3)?.readUIntBE(1, 6)}: checksum`));
});

test("a damaged page or a missing block is -32603 with a request id on the wire, named in the log, counted, and spoils no neighbour", async t => {
  const directory = await copyOfStore("wire");
  let page = 0;
  await tamper(directory, async db => {
    // The newest block's account tree root.
    const key = Buffer.from(`b${"\0".repeat(5)}${String.fromCharCode(BLOCKS - 1)}`, "latin1");
    page = decodeBlockRecord(BLOCKS - 1, openRecord(key, (await db.get(key)) as Buffer)).accounts.rootPage;
    const pageKey = Buffer.alloc(7);
    pageKey.write("p");
    pageKey.writeUIntBE(page, 1, 6);
    const value = (await db.get(pageKey)) as Buffer;
    value[20] = (value[20] as number) ^ 1;
    await db.put(pageKey, value);
  });
  await removeBlockRecord(directory, 1);
  const flags = ["--db", directory, "--estimate-workers", "1"];
  const daemon = await OwnService.serve(flags, {estimates: true});
  t.after(() => daemon.stop());
  const call = (id: number, block: number): object => ({
    jsonrpc: "2.0",
    id,
    method: "chain_getProof",
    params: [addressAt(0), [], `0x${block.toString(16)}`],
  });
  const [damaged, whole] = await daemon.send([call(1, BLOCKS - 1), call(2, 0)]);
  assert.equal(damaged.error.code, -32603);
  assert.doesNotMatch(damaged.error.message, /page|checksum/);
  assert.match(daemon.stderr, new RegExp(`RECORD_DAMAGED: page ${page}: checksum`));
  assert.ok(daemon.stderr.includes(damaged.error.data.requestId));
  assert.ok(whole.result.accountProof.leafIndex > 1);
  assert.equal(await daemon.readMetric("proofd_damaged_records_total"), 1);
  const entries = [{address: addressAt(0), storageKeys: ["0x1"]}];
  const multi = await daemon.call("chain_getMultiProof", [entries, `0x${(BLOCKS - 1).toString(16)}`]);
  assert.equal(multi.error.code, -32603);
  // Also a large one that a client wants as bytes: it fails before a byte of it is sent.
  const large = Array.from({length: 600}, () => entries[0]);
  const {status, type, body} = await daemon.postAccepting("application/octet-stream", {
    ...{jsonrpc: "2.0", id: 1, method: "chain_getMultiProof"},
    params: [large, `0x${(BLOCKS - 1).toString(16)}`],
  });
  assert.deepEqual([status, type], [200, "application/json"]);
  assert.equal(JSON.parse(body.toString()).error.code, -32603);
  assert.match((await daemon.call("chain_getMultiProof", [entries, "0x0"])).result, /^0x01/);
  const range = ["accounts", "0x0", "0x1000"];
  const leaves = await daemon.call("chain_getLeaves", [...range, `0x${(BLOCKS - 1).toString(16)}`]);
  assert.equal(leaves.error.code, -32603);
  assert.match((await daemon.call("chain_getLeaves", [...range, "0x0"])).result, /^0x03/);
  for (const blocks of [
    ["0x0", `0x${(BLOCKS - 1).toString(16)}`],
    [`0x${(BLOCKS - 1).toString(16)}`, "0x0"],
  ]) {
    const changes = await daemon.call("chain_getChanges", ["accounts", ...blocks, "0x0", "0x1000"]);
    assert.equal(changes.error.code, -32603);
  }
  let found = 6;
  assert.equal(await daemon.readMetric("proofd_damaged_records_total"), found);
  for (const [method, params] of [
    ["chain_getStateRoot", ["0x1"]],
    ["chain_getProof", [addressAt(0), [], "0x1"]],
    ["chain_estimateGas", [{from: addressAt(0), to: addressAt(1)}, "0x1"]],
  ] as const) {
    const {error} = await daemon.call(method, params);
    assert.equal(error?.code, -32603, `${method}: ${JSON.stringify(error)}`);
    await daemon.waitForStderr(new RegExp(error.data.requestId));
    assert.equal(await daemon.readMetric("proofd_damaged_records_total"), ++found);
  }
  assert.match(daemon.stderr, /RECORD_MISSING: record of block 1 is not in the store, although block 3 is/);
  assert.equal((await daemon.call("chain_getStateRoot", ["0x4"])).error.code, -32001);
  assert.equal((await daemon.call("chain_getStateRoot", ["0x2"])).result.number, "0x2");
});

test("what no checksum shows, check finds: index pages, lists, roots and records that do not fit together", async () => {
  const INDEX_PAGES = [0x42, 0x44];
  const all = new Map<string, Buffer>();
  const directory = await copyOfStore("forged");
  await tamper(directory, async db => {
    for await (const [key, value] of db.iterator()) all.set(key.toString("latin1"), value);
  });
  const bodyOf = (name: string): Buffer => (all.get(name) as Buffer).subarray(0, -4);
  const named = (prefix: string): string[] => [...all.keys()].filter(name => name.startsWith(prefix));
  const buckets = named("p").filter(name => bodyOf(name)[0] === 0x42 && (bodyOf(name)[1] as number) > 1);
  const oldest = named("p").find(name => INDEX_PAGES.includes(bodyOf(name)[0] as number)) as string;
  const changed = (name: string, at: number): Buffer => {
    const body = Buffer.from(bodyOf(name));
    body[at] = (body[at] as number) ^ 1;
    return body;
  };
  const blocks = named("b");
  const block3 = decodeBlockRecord(3, bodyOf(blocks[3] as string));
  const forgeries: readonly [string, string, Buffer | undefined, RegExp][] = [
    ["an index page of block 0 that is gone", oldest, undefined, /block 0, .*index page .*RECORD_MISSING/],
    [
      "a wrong leaf index in an old bucket",
      buckets[0] as string,
      changed(buckets[0] as string, 3 + 6 + 4),
      /index page .* is not that of leaf|index page .*RECORD_MISSING/,
    ],
    [
      "a bucket with a wrong key",
      buckets[1] as string,
      changed(buckets[1] as string, 3),
      /index page .* is not that of leaf/,
    ],
    [
      "a bucket that is longer than its keys",
      buckets[1] as string,
      changed(buckets[1] as string, 2),
      /index page .*RECORD_DAMAGED: page \d+: a bucket of \d+ bytes for \d+ keys/,
    ],
    [
      "an account tree without its index",
      blocks[3] as string,
      encodeBlockRecord({...block3, accounts: {...block3.accounts, indexPage: 0}}),
      /has leaves, but no index/,
    ],
    [
      "a block's own page range too low",
      blocks[2] as string,
      encodeBlockRecord({...decodeBlockRecord(2, bodyOf(blocks[2] as string)), nextPage: 0}),
      /belongs to a later block|before those of block/,
    ],
    [
      "the newest block's record gone",
      blocks[3] as string,
      undefined,
      /it leads to block 3, which is not in the store/,
    ],
    [
      "the first block's record gone",
      blocks[0] as string,
      undefined,
      /block 0: RECORD_MISSING: record of block 0 is not in the store/,
    ],
  ];
  for (const [what, name, body, expectedFinding] of forgeries) {
    const key = Buffer.from(name, "latin1");
    await tamper(directory, db => (body === undefined ? db.del(key) : db.put(key, sealRecord(key, body))));
    const found = await findings(directory);
    assert.ok(
      found.some(text => expectedFinding.test(text)),
      `${what}: ${found.slice(0, 5).join("; ") || "nothing found"}`,
    );
    await tamper(directory, db => db.put(key, all.get(name) as Buffer));
  }
  assert.deepEqual(await findings(directory), []);
});

test("a sampled leaf that its key does not lead to is named, and its page's root is still compared", async () => {
  const directory = await copyOfStore("sampled");
  await tamper(directory, async db => {
    for await (const [key, value] of db.iterator({gte: Buffer.from("p"), lt: Buffer.from("q")})) {
      const body = Buffer.from(value.subarray(0, -4));
      if (body[0] === BUCKET)
        for (let i = 0; i < entryCount(body); i++)
          body.fill(0, entryAt(body, i) + keyBytes(body), entryAt(body, i + 1));
      else if (body[0] === INNER_PAGE)
        body.fill(7, innerRowAt(childCount(body), 0), innerRowAt(childCount(body), 2));
      await db.put(key, sealRecord(key, body));
    }
  });
  const found = (await checkStore(directory, 20)).found.join("\n");
  assert.match(found, /^block 3, account tree, leaf \d+: looking its key up gives no leaf$/m);
  assert.match(found, /^block 3, account tree, page \d+: page \d+ has another root than this page says$/m);
});

test("bytes flipped in LevelDB's own files never make a wrong proof", async () => {
  const files = (await readdir(stores.sha256.directory)).filter(name => /\.(ldb|log)$|^MANIFEST/.test(name));
  let failedOpens = 0;
  let failedProofs = 0;
  for (let round = 0; round < propertyRuns(4); round++) {
    const directory = await copyOfStore(`file-${round}`);
    const name = files[round % files.length] as string;
    const bytes = await readFile(join(directory, name));
    if (bytes.length === 0) continue;
    // A run of bytes, as a bad sector has, at places spread over the file.
    const start = Math.floor(bytes.length * ((round * 0.381966) % 1));
    for (let at = start; at < Math.min(bytes.length, start + 64); at++)
      bytes[at] = (bytes[at] as number) ^ 0x55;
    await writeFile(join(directory, name), bytes);
    try {
      failedProofs += (await proveAll(directory)).failed;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      assert.match(
        String((error as {code?: string}).code),
        /^(STORE_DAMAGED|RECORD_DAMAGED|RECORD_MISSING|FORMAT_MISMATCH|BLOCK_UNKNOWN)$/,
        String(error),
      );
      failedOpens++;
    }
    await rm(directory, {recursive: true});
  }
  assert.ok(failedOpens + failedProofs > 0, "no damage had any effect");
});

test("a store of another hash suite, and a LevelDB of something else, are refused by name", async () => {
  const key = Buffer.from("mformat");
  const record = (body: object): Buffer => sealRecord(key, Buffer.from(JSON.stringify(body)));
  const directory = await copyOfStore("format");
  await tamper(directory, db => db.put(key, record({version: 6, suite: "md5"})));
  await assert.rejects(openEngine(directory), {
    code: "FORMAT_MISMATCH",
    message: /suite md5 is not one of sha256/,
  });
  await tamper(directory, db => db.del(key));
  await assert.rejects(openEngine(directory), {code: "FORMAT_MISMATCH", message: /not a proofd store/});
});

test("a directory with files of something else is refused and left as it was", async () => {
  const directory = join(folder, "foreign");
  await cp(join(folder, "chain.ndjson"), join(directory, "chain.ndjson"));
  await assert.rejects(openEngine(directory), {
    code: "STORE_MISSING",
    message: /not empty \(it has chain.ndjson\)/,
  });
  assert.deepEqual(await readdir(directory), ["chain.ndjson"]);
});
