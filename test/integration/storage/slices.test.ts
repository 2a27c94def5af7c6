/** A store of slices, with a gap, in everything that stores do: served, checked, damaged, copied, rolled back, fed. */
import assert from "node:assert/strict";
import {cp, writeFile} from "node:fs/promises";
import {before, test} from "node:test";
import {packChanges, unpackChanges} from "../../../nodes/feed/blockChanges.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {toHex} from "../../../storage/hex.ts";
import {nodeKey, pageKey, SLICE} from "../../../storage/record/layout.ts";
import {sealRecord} from "../../../storage/record/record.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {createLines, diffsFlags, WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {answerText, Upstream} from "../../support/http/upstream.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {applySlice, bytesOf, CONTRACTS, RandomSlices, SLOTS_OF} from "../../support/stores/randomSlices.ts";
import {storedPages} from "../../support/stores/reachablePages.ts";
import {tamper} from "../../support/stores/tamper.ts";

const FIRST = 100;
const LATEST = 130;
const FINALIZED = 125;
/** Blocks of which only the headers are stored. */
const [GAP_FROM, GAP_TO] = [112, 115];

const chain = new RandomSlices(FIRST, 7);
const taken: BlockDifference[] = [];
const folder = new WorkFolder();
const db = folder.file("db");

function openStore(directory: string): Promise<StateStore> {
  return StateStore.open({
    ...{directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 20, suite: "keccak"},
  });
}

before(async () => {
  const store = await openStore(db);
  const writer = await BlockWriter.create(store);
  for (let block = FIRST; block <= LATEST; block++) {
    await chain.grow();
    const isMissed = block >= GAP_FROM && block <= GAP_TO;
    const isFresh = block === FIRST || block === GAP_TO + 1;
    const difference = isMissed ? chain.miss(block) : chain.take(block, isFresh, [0, 1, 2]);
    taken.push(difference);
    await applySlice(writer, difference);
    if (block % 7 === 0) await writer.flush();
  }
  writer.markFinalized(FINALIZED);
  await writer.flush();
  await store.close();
});

async function copyOf(name: string): Promise<string> {
  const copy = folder.file(name);
  await cp(db, copy, {recursive: true});
  return copy;
}

function quantity(block: number): string {
  return `0x${block.toString(16)}`;
}

/** Compares what a service proves with the whole state. @returns how many slots it had, and a refusal */
async function compareProofs(
  service: OwnService,
  to = FINALIZED,
): Promise<{proved: number; refusal: string | undefined}> {
  let proved = 0;
  let refusal: string | undefined;
  for (let block = FIRST; block <= to; block += 3)
    for (const [at, address] of CONTRACTS.entries())
      for (const slot of (SLOTS_OF[at] ?? []).slice(0, 8)) {
        const {result, error} = await service.call("eth_getProof", [
          toHex(address),
          [toHex(slot)],
          quantity(block),
        ]);
        if (error !== undefined) {
          assert.equal(error.code, -32001, error.message);
          refusal = error.message;
          continue;
        }
        const {accountProof, storageProof} = result;
        const text = [...accountProof, ...storageProof.flatMap(({proof}: {proof: string[]}) => proof)].join(
          " ",
        );
        assert.equal(text, chain.prove(block, at, slot));
        proved++;
      }
  return {proved, refusal};
}

test("a store of slices serves its contracts without a node, and says of all else why it does not", async () => {
  const service = await OwnService.serve(["--db", db, "--estimate-workers", "1"], {estimates: true});
  try {
    const {proved} = await compareProofs(service);
    assert.ok(proved > 60, `${proved}`);
    const own = toHex(CONTRACTS[0] as Uint8Array);
    const other = toHex(bytesOf(20, "other 3"));
    const refusals: readonly [string, unknown[], number, RegExp][] = [
      [
        "eth_getProof",
        [toHex(bytesOf(20, "nobody")), [], quantity(FINALIZED)],
        -32001,
        /--contracts|not in the store/,
      ],
      [
        "eth_getProof",
        [own, [], quantity(GAP_FROM)],
        -32001,
        /nearest that can be proved: block 0x6f and block 0x74/,
      ],
      ["eth_getProof", [own, [], quantity(FIRST - 1)], -32001, /it has blocks 0x64 to 0x82/],
      ["chain_getProof", [own, [], quantity(FINALIZED)], -32004, /eth_getProof/],
      ["chain_getLeaves", ["accounts", "0x0", "0x5", quantity(FINALIZED)], -32004, /sparse|suite/],
      ["chain_estimateGas", [{from: other, to: own}, quantity(FINALIZED)], -32004, /--contracts.*--gateway/],
      ["eth_call", [{to: own}, quantity(FINALIZED)], -32004, /^eth_call is not available: .*--contracts/],
      ["eth_getBalance", [other, quantity(FINALIZED)], -32001, /^account 0x.* is not in the store/],
      ["eth_getBalance", [own, quantity(GAP_FROM)], -32001, /nearest that can be proved: block 0x6f/],
      [
        "eth_getCode",
        [own, quantity(FINALIZED)],
        -32001,
        /^the code of 0x.* a store of slices .* has no codes$/,
      ],
    ];
    for (const [method, params, code, text] of refusals) {
      const {error, result} = await service.call(method, params);
      assert.ok(error !== undefined, `${method} ${JSON.stringify(params)}: ${JSON.stringify(result)}`);
      assert.equal(error.code, code, `${method}: ${error.message}`);
      assert.match(error.message, text);
    }
    const {header} = (await service.call("chain_getHeader", [quantity(FINALIZED)])).result;
    assert.equal(header.stateRoot, toHex(chain.at(FINALIZED).trie.root));
    const root = (await service.call("chain_getStateRoot", [quantity(FINALIZED)])).result;
    assert.equal(root.stateRoot, toHex(chain.at(FINALIZED).trie.root));
    const multi = await service.call("chain_getMultiProof", [
      [{address: own, storageKeys: [toHex((SLOTS_OF[0] ?? [])[0] as Uint8Array)]}],
      quantity(FINALIZED),
    ]);
    assert.equal(multi.error, undefined, multi.error?.message);
    const coverage = (await service.call("chain_getCoverage", [])).result;
    assert.deepEqual([coverage.earliest, coverage.latest], [quantity(FIRST), quantity(LATEST)]);
  } finally {
    await service.stop();
  }
});

test("with a gateway, the node answers what slices lack, and proofd its contracts and all proofs", async () => {
  const upstream = new Upstream();
  upstream.handler = answerText('{"jsonrpc":"2.0","id":ID,"result":"the node"}');
  await upstream.start();
  const flags = ["--db", db, "--estimate-workers", "1", "--gateway", upstream.url.href];
  const service = await OwnService.serve(flags, {estimates: true});
  try {
    const [own, other] = [toHex(CONTRACTS[0] as Uint8Array), toHex(bytesOf(20, "nobody"))];
    const at = quantity(FINALIZED);
    for (const [method, params, isForwarded] of [
      ["eth_getBalance", [own, at], false],
      ["eth_getBalance", [own.toUpperCase().replace("X", "x"), at], false],
      ["eth_getBalance", [other, at], true],
      ["eth_getBalance", [`0x${"ab".repeat(1000)}`, at], false],
      ["eth_getBalance", [own, quantity(GAP_FROM)], true],
      ["eth_getCode", [own, at], true],
      ["eth_call", [{to: own}, at], true],
      ["eth_getProof", [own, [], at], false],
      ["eth_getProof", [other, [], at], false],
    ] as const) {
      const {result} = await service.call(method, params);
      assert.equal(result === "the node", isForwarded, `${method} ${params}`);
    }
  } finally {
    await service.stop();
    await upstream.stop();
  }
});

test("check of a sound store of slices finds nothing, and names what is damaged; none of it is served", async () => {
  assert.deepEqual((await checkStore(db)).found, []);
  assert.deepEqual((await checkStore(db, 20)).found, []);
  const directory = await copyOf("damaged");
  const all = new Map<string, Buffer>();
  await tamper(directory, async store => {
    for await (const [key, value] of store.iterator()) all.set(key.toString("hex"), value);
  });
  const keyOf = (prefix: number, at: number): Buffer =>
    Buffer.from([...all.keys()].filter(key => key.startsWith(prefix.toString(16)))[at] as string, "hex");
  const [node, page, missed] = [keyOf(0x6e, 0), keyOf(0x70, 20), keyOf(0x78, 1)];
  const flipped = (key: Buffer): Buffer => {
    const value = Buffer.from(all.get(key.toString("hex")) as Buffer);
    value[1] = (value[1] as number) ^ 4;
    return value;
  };
  const sealed = (key: Buffer, body: Buffer): Buffer => sealRecord(key, body);
  const damages: readonly [string, Buffer, Buffer, RegExp][] = [
    ["bytes of a node", node, flipped(node), /^node 0x[0-9a-f]{64}: RECORD_DAMAGED/],
    [
      "a node of another hash",
      node,
      sealed(node, flipped(node).subarray(0, -4)),
      /^node 0x.*: it has another hash/,
    ],
    ["bytes of a page", page, flipped(page), /^page 20|^page \d+: RECORD_DAMAGED/],
    ["bytes of the contracts", SLICE, flipped(SLICE), /^slice record: RECORD_DAMAGED/],
    [
      "contracts that do not decode",
      SLICE,
      sealed(SLICE, Buffer.from("[{}")),
      /^slice record: RECORD_DAMAGED/,
    ],
    [
      "a contract without blocks",
      SLICE,
      sealed(SLICE, Buffer.from('[{"address":"0x00"}]')),
      /^slice record: REC/,
    ],
    ["bytes of a missed block", missed, flipped(missed), /^record of pruned block 113: RECORD_DAMAGED/],
  ];
  for (const [what, key, value, expected] of damages) {
    await tamper(directory, store => store.put(key, value));
    const {found} = await checkStore(directory);
    assert.ok(
      found.some(text => expected.test(text)) && found.length < 40,
      `${what}: ${found.length} ${found.slice(0, 5).join("; ") || "nothing found"}`,
    );
    await tamper(directory, store => store.put(key, all.get(key.toString("hex")) as Buffer));
  }
  assert.deepEqual((await checkStore(directory)).found, []);
});

test("a damaged node is -32603 for the paths that need it, and spoils no others", async () => {
  const directory = await copyOf("nodes");
  await tamper(directory, async store => {
    for await (const [key, value] of store.iterator({gte: nodeKey(new Uint8Array(32)), lt: pageKey(0)})) {
      value[3] = (value[3] as number) ^ 1;
      await store.put(key, value);
    }
  });
  const service = await OwnService.serve(["--db", directory]);
  const counts = {proved: 0, damaged: 0, missing: 0};
  try {
    for (let block = FIRST; block <= FINALIZED; block++)
      for (const slot of SLOTS_OF[1] ?? []) {
        const params = [toHex(CONTRACTS[1] as Uint8Array), [toHex(slot)], quantity(block)];
        const {result, error} = await service.call("eth_getProof", params);
        if (error === undefined) {
          const {accountProof, storageProof} = result;
          assert.equal([...accountProof, ...storageProof[0].proof].join(" "), chain.prove(block, 1, slot));
          counts.proved++;
        } else if (error.code === -32603) counts.damaged++;
        else counts.missing++;
      }
  } finally {
    await service.stop();
  }
  assert.ok(counts.damaged > 20 && counts.proved > 20, JSON.stringify(counts));
});

test("a snapshot of slices has their proofs; a rollback into a gap ends before it", async () => {
  const copy = folder.file("snapshot");
  const made = await runHere(["snapshot", "--db", db, "--out", copy]);
  assert.equal(made.code, 0, made.stderr);
  assert.equal(JSON.parse(made.stdout).block, LATEST);
  assert.deepEqual((await checkStore(copy)).found, []);
  const undone = await runHere(["rollback", "--db", copy, "--to", `${GAP_FROM}`, "--finalized"]);
  assert.equal(undone.code, 0, undone.stderr);
  assert.deepEqual((await checkStore(copy)).found, []);
  const service = await OwnService.serve(["--db", copy]);
  try {
    assert.equal(service.engine.chain.head().latest, GAP_FROM - 1);
    assert.ok((await compareProofs(service, GAP_FROM - 1)).proved > 30);
  } finally {
    await service.stop();
  }
});

test("sources of whole chains are refused for slices, and slices for a store of a whole chain", async () => {
  const lines = createLines(0, 3);
  const path = folder.file("lines.ndjson");
  await writeFile(path, encodeLines(lines));
  const diffs = await runHere(["import", ...diffsFlags(db, path)]);
  assert.notEqual(diffs.code, 0);
  assert.match(diffs.stderr, /the store has slices: only a node \(--l2\) or a feed has blocks for it/);
  const suite = await runHere([
    ...["serve", "--db", folder.file("none"), "--l2", "http://127.0.0.1:9", "--suite", "sha256"],
    ...["--contracts", toHex(CONTRACTS[0] as Uint8Array)],
  ]);
  assert.equal(suite.code, 2);
  assert.match(suite.stderr, /--suite.*expected keccak, which --contracts needs, got sha256/);
  const whole = folder.file("whole");
  await importLines(whole, lines);
  const store = await StateStore.open({directory: whole, role: "owner", cacheBytes: 1 << 20});
  const writer = await BlockWriter.create(store);
  const header = {number: 4, hash: bytesOf(32, "4"), stateRoot: chain.at(FIRST).trie.root};
  await assert.rejects(writer.prepare({...chain.miss(FIRST), header}), {
    code: "BLOCK_INVALID",
    message: /the store has the whole chain, and the block is from a source of slices/,
  });
  await store.close();
  const slices = await openStore(db);
  const other = {...header, number: LATEST + 1, hash: bytesOf(32, "131")};
  const {slice, ...block} = chain.miss(LATEST);
  await assert.rejects((await BlockWriter.create(slices)).prepare({...block, header: other}), {
    code: "BLOCK_INVALID",
  });
  await slices.close();
});

test("what a feed says of slices gives a replica the same pages", async () => {
  const replica = await openStore(folder.file("replica"));
  const writer = await BlockWriter.create(replica);
  for (const [at, block] of taken.entries()) {
    const {header, first, chain: config} = block;
    const stateRoot = header.stateRoot as Uint8Array;
    const packed = packChanges({...block, chain: undefined}) as Buffer;
    const fed = unpackChanges({...header, stateRoot}, packed.readUInt32BE(0), packed.subarray(4));
    // A replica has the first block from a snapshot.
    await applySlice(writer, at === 0 ? {...fed, first, chain: config} : fed);
  }
  await writer.flush();
  const publisher = await openStore(db);
  const pages = await storedPages(publisher);
  assert.deepEqual(await storedPages(replica), pages);
  for (const page of pages)
    assert.ok(publisher.reader.pages.read(page).equals(replica.reader.pages.read(page)));
  assert.deepEqual(replica.reader.readSlice(), publisher.reader.readSlice());
  await publisher.close();
  await replica.close();
});
