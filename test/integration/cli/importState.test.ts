/** `proofd import --state`: a store that begins with the state of a block as `geth snapshot dump` writes it. */
import assert from "node:assert/strict";
import {existsSync, readdirSync, statSync} from "node:fs";
import {readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {gzipSync} from "node:zlib";
import {decodeBlockHead} from "../../../evm/execution/blockHead.ts";
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import {StateTrie} from "../../../storage/commit/stateTrie.ts";
import {KECCAK_EMPTY, keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import type {PageReader} from "../../../storage/page/pageReader.ts";
import {codeKey} from "../../../storage/record/layout.ts";
import {encodeList, encodeNumber} from "../../../storage/rlp/rlpWriter.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import type {TrieRoot} from "../../../storage/trie/trie.ts";
import {decodeTrieAccount} from "../../../storage/trie/trieAccount.ts";
import {readTriePage, TRIE_ROOT, type TriePlace} from "../../../storage/trie/triePage.ts";
import {Estimator} from "../../../workers/estimate/estimator.ts";
import type {StateSource} from "../../../workers/messages/importSource.ts";
import {
  CONFORMANCE,
  CONFORMANCE_BLOCKS,
  digestAnswer,
  GETH_PROOFS,
  makeProofBatch,
} from "../../support/chains/conformanceChain.ts";
import {readChainFiles} from "../../support/chains/executedChain.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {CHAIN_ID, PLAIN_CALL, SETTINGS} from "../../support/estimates/estimateStore.ts";
import {packEstimates} from "../../support/estimates/packedEstimates.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Daemon, runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importSource, openOwned} from "../../support/stores/importedStore.ts";
import {reachablePages, storedPages} from "../../support/stores/reachablePages.ts";
import {tamper} from "../../support/stores/tamper.ts";
import {waitUntil} from "../../support/wait.ts";

const MIDDLE = 40;
const PAYER = Buffer.alloc(20, 0xaa);
const EMPTY = Buffer.alloc(20, 3);
const CONTRACT = Buffer.alloc(20, 1);
const CODE = Buffer.from("6001", "hex");

const folder = new WorkFolder();

function sourceOf(path: string, headerPath: string): StateSource {
  return {kind: "state", path, headerPath, genesisPath: undefined};
}

const WORD = new Uint8Array(32);

/** A header without transactions. */
function headerOf(stateRoot: Uint8Array, number = 1000n, parent: Uint8Array = WORD): Uint8Array {
  const [word, nothing] = [WORD, new Uint8Array(0)];
  const numbers = [0n, number, 30_000_000n, 0n, 1_700_000_000n].map(encodeNumber);
  const roots = [stateRoot, word, word, new Uint8Array(256)];
  return encodeList([parent, word, PAYER, ...roots, ...numbers, nothing, word, new Uint8Array(8)]);
}

/** The leaves of a trie in the order of their paths, by the plainest walk. */
function listLeaves(
  pages: PageReader,
  {page}: TrieRoot,
): readonly (readonly [path: Buffer, value: Buffer])[] {
  const list = (place: TriePlace): (readonly [Buffer, Buffer])[] => {
    const {children, leaves} = readTriePage(place.page, pages.read(place.page), place.path);
    return [...leaves.map(({path, value}) => [path, Buffer.from(value)] as const), ...children.flatMap(list)];
  };
  return page === 0 ? [] : list({...TRIE_ROOT, page}).sort(([a], [b]) => a.compare(b));
}

/** The lines that geth writes of a trie, which it reads from its snapshot. */
function dumpLines(pages: PageReader, readCode: (hash: Uint8Array) => Uint8Array, trie: TrieRoot): string[] {
  const accounts = listLeaves(pages, trie).map(([path, value]) => {
    const {nonce, balance, codeHash, storage} = decodeTrieAccount(value);
    const slots = listLeaves(pages, storage).map(([slot, rlp]) => [toHex(slot), rlp.toString("hex")]);
    return JSON.stringify({
      ...{balance: `${balance}`, nonce: Number(nonce), root: toHex(storage.root), codeHash: toHex(codeHash)},
      code: codeHash === KECCAK_EMPTY ? undefined : toHex(readCode(codeHash)),
      storage: slots.length === 0 ? undefined : Object.fromEntries(slots),
      key: toHex(path),
    });
  });
  return [JSON.stringify({root: toHex(trie.root)}), ...accounts];
}

test("the chain goes on by execution from a state in its middle, and every proof is geth's to the byte", async t => {
  if (!existsSync(CONFORMANCE)) return notRun(t, `${CONFORMANCE} is absent`);
  const genesisPath = join(CONFORMANCE, "genesis.json");
  const blocks = {kind: "blocks", genesisPath, blocksPath: join(CONFORMANCE, "chain.rlp")} as const;
  await importSource(folder.file("whole"), blocks, {suite: "keccak"});
  const whole = await openOwned(folder.file("whole"));
  const {trie} = whole.reader.blockOrThrow(MIDDLE);
  assert.ok(trie !== undefined);
  const {pages} = whole.reader;
  const lines = dumpLines(pages, hash => whole.reader.readCode(hash), trie);
  await writeFile(folder.file("state.gz"), gzipSync(lines.join("\n")));
  const {blocks: rlp} = await readChainFiles(CONFORMANCE);
  await writeFile(folder.file("headers"), Buffer.concat(rlp.slice(MIDDLE - 20, MIDDLE)));
  const source = {...sourceOf(folder.file("state.gz"), folder.file("headers")), genesisPath};
  const db = folder.file("middle");
  const {hash: head} = decodeBlockHead(rlp[MIDDLE - 1] as Uint8Array, "the block");
  assert.deepEqual(await importSource(db, source, {suite: "keccak", head}), {
    ...{ok: true, blocks: 1, alreadyStored: 0, stopped: false},
    head: {earliest: MIDDLE, finalized: MIDDLE, latest: MIDDLE},
  });
  const made = await openOwned(db);
  const ancestors = Array.from({length: 20}, (_, back) => whole.reader.blockHashOrThrow(MIDDLE - 1 - back));
  const {chainId, config} = whole.reader.readChain() ?? {};
  assert.deepEqual(made.reader.readChain(), {chainId, config, first: {number: MIDDLE, ancestors}});
  const old = {
    ...PLAIN_CALL,
    block: MIDDLE,
    isLatest: true,
    data: Buffer.from(codeOf("PUSH1 5 BLOCKHASH").slice(2), "hex"),
  };
  const estimator = new Estimator(made.reader, SETTINGS, CHAIN_ID);
  const {failures} = await estimator.answer(packEstimates(old));
  const detail = "the call reads the hash of block 5, which is not in the store: it begins with block 40";
  assert.deepEqual(failures, [{call: 0, failure: "NOT_AVAILABLE", detail}]);
  await made.close();
  const again = await importSource(db, source);
  assert.ok(again.ok && again.blocks === 0 && again.alreadyStored === 1);
  assert.ok((await importSource(db, blocks, {finalized: "last"})).ok);
  const service = await OwnService.start({db});
  for (let block = MIDDLE; block <= CONFORMANCE_BLOCKS; block++) {
    const {text} = await service.post(makeProofBatch(block));
    assert.equal(digestAnswer(text), GETH_PROOFS.digests[block], `block ${block}: ${text.slice(0, 300)}`);
  }
  const {error} = await service.call("eth_getProof", [toHex(PAYER), [], "0x1"]);
  assert.match(error.message, /it has blocks 0x28 to 0x36/);
  await service.stop();
  assert.deepEqual((await checkStore(db)).found, []);
  await whole.close();
});

interface MadeState {
  readonly root: Uint8Array;
  readonly lines: readonly string[];
  readonly headerPath: string;
}

async function makeState(name: string, accounts: AccountDifferences): Promise<MadeState> {
  const tries = new MemoryTries();
  const trie = await new StateTrie(tries).apply(accounts);
  const lines = dumpLines(tries, hash => tries.findCode(hash) ?? assert.fail(), trie);
  const headerPath = folder.file(`${name}.header`);
  await writeFile(headerPath, headerOf(trie.root));
  return {root: trie.root, lines, headerPath};
}

function slotsOf(count: number) {
  return Array.from({length: count}, (_, i) => ({slot: wordOf(i), value: wordOf(i + 1)}));
}

function wordOf(number: number): Uint8Array {
  return keccak256(encodeNumber(BigInt(number + 1)));
}

/** Three accounts, by the order of their lines: one that pays, one without anything as some states have them, a contract with slots. */
function smallState(): Promise<MadeState> {
  const accounts = new AccountDifferences();
  const values = [Uint8Array.of(5), Uint8Array.of(200), new Uint8Array(32).fill(9)];
  const storage = values.map((value, i) => ({
    slot: wordOf(i),
    value: Buffer.concat([new Uint8Array(32 - value.length), value]),
  }));
  accounts.add({address: PAYER, change: {nonce: 2n ** 53n - 1n, balance: 2n ** 256n - 1n}});
  accounts.add({address: EMPTY, change: {}});
  accounts.add({address: CONTRACT, change: {balance: 1n, code: CODE, storage}});
  return makeState("small", accounts);
}

test("a state of many parts has the accounts, slots and pages of one that is written in any order", async () => {
  const accounts = new AccountDifferences();
  for (let i = 0; i < 5000; i++)
    accounts.add({
      address: wordOf(i).subarray(0, 20),
      change: {nonce: BigInt(i), balance: 5n, storage: slotsOf(i === 7 ? 4097 : i % 2)},
    });
  const {lines, headerPath, root} = await makeState("large", accounts);
  const path = folder.file("large.ndjson");
  await writeFile(path, lines.join("\n"));
  const outcome = await importSource(folder.file("large"), sourceOf(path, headerPath), {suite: "keccak"});
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
  const store = await openOwned(folder.file("large"));
  const {reader} = store;
  const held = reader.blockOrThrow(1000).trie as TrieRoot;
  assert.deepEqual(toHex(held.root), toHex(root));
  assert.deepEqual(
    dumpLines(reader.pages, hash => reader.readCode(hash), held),
    lines,
  );
  await store.close();
  // One block is walked once: 2 499 accounts have one slot.
  const {found, leaves} = await checkStore(folder.file("large"));
  assert.deepEqual([found, leaves], [[], 5000 + 2499 + 4097]);
});

type Edit = (lines: string[], line: (at: number, from: string | RegExp, to: string) => void) => void;

/** In the small state. Lines are counted from 0 here. */
const REFUSED: readonly (readonly [what: string, message: RegExp, edit: Edit])[] = [
  [
    "another root",
    /line 1: expected the root 0x.*, that of the header, got 0x00/,
    (_, line) => line(0, /0x../, "0x00"),
  ],
  ["no root", /line 1: expected \{"root":"0x\.\."\} in the first line/, lines => lines.shift()],
  [
    "storage beside the root",
    /line 1: expected \{"root":"0x\.\."\} in the first line/,
    (_, line) => line(0, "}", ',"storage":{}}'),
  ],
  ["no line", /line 1: expected \{"root":"0x\.\."\}, got no line/, lines => lines.splice(0)],
  [
    "two accounts in the wrong order",
    /line 3: account 0x.* is out of order: expected ascending hashes, got it after 0x/,
    lines => lines.splice(1, 0, ...lines.splice(2, 1)),
  ],
  [
    "an account twice",
    /line 3: account 0x.* is there twice/,
    lines => lines.splice(1, 0, lines[1] as string),
  ],
  [
    "a missing account",
    /line 3, its end: block 1000: expected state root .* as in its header, got .* from 2 accounts.*truncated/,
    lines => lines.pop(),
  ],
  ["another nonce", / from 3 accounts/, (_, line) => line(1, '"nonce":9', '"nonce":8')],
  [
    "a balance in hex",
    /line 2: balance: expected a decimal number below 2\^256, got "0x1"/,
    (_, line) => line(1, /"balance":"\d+"/, '"balance":"0x1"'),
  ],
  [
    "a balance of 2^256",
    /line 2: balance: expected a decimal number below 2\^256/,
    (_, line) => line(1, /"balance":"\d+"/, `"balance":"${2n ** 256n}"`),
  ],
  [
    "a nonce of 2^64",
    /line 2: nonce: expected a decimal number below 2\^64, got "18446744073709551616"/,
    (_, line) => line(1, /"nonce":\d+/, `"nonce":${2n ** 64n}`),
  ],
  [
    "a nonce in quotes",
    /line 2: nonce: expected digits without quotes, got "1"/,
    (_, line) => line(1, /"nonce":\d+/, '"nonce":"1"'),
  ],
  [
    "an address of another account",
    /line 2: account 0x.*: its address 0x0303.* does not hash to its key/,
    (_, line) => line(1, '"key"', `"address":"${toHex(EMPTY)}","key"`),
  ],
  [
    "a missing field",
    /line 2: expected a field codeHash, got none/,
    (_, line) => line(1, /"codeHash":"\w+",/, ""),
  ],
  [
    "a field twice",
    /line 2: field nonce is there twice/,
    (_, line) => line(1, /"nonce"/, '"nonce":1,"nonce"'),
  ],
  [
    "an unknown field",
    /line 2: unknown field "none": expected balance,/,
    (_, line) => line(1, '"nonce"', '"none"'),
  ],
  [
    "a short key",
    /line 2: key: expected 64 hex digits, got "0x1"/,
    (_, line) => line(1, /"key":"\w+"/, '"key":"0x1"'),
  ],
  [
    "missing slots",
    /line 4: account 0x.*: expected the storage root 0x.*, it has no slots/,
    (_, line) => line(3, /"storage":{.*?},/, ""),
  ],
  [
    "another slot",
    /line 4: .*its slots give 0x.*`geth snapshot dump` writes them/,
    (_, line) => line(3, /":"05"/, '":"06"'),
  ],
  [
    "a slot twice",
    /line 4: slot 0x.* is there twice/,
    (_, line) => line(3, /("storage":{)("\w+":"\w+",)/, "$1$2$2"),
  ],
  [
    "slots in the wrong order",
    /line 4: slot 0x.* is out of order/,
    (_, line) => line(3, /("storage":{)("\w+":"\w+",)("\w+":"\w+",)/, "$1$3$2"),
  ],
  [
    "a slot's value without its length",
    /line 4: a slot's value: expected RLP of a number above 0 and below 2\^256, got "c8"/,
    (_, line) => line(3, '"81c8"', '"c8"'),
  ],
  [
    "a slot's value of 33 bytes",
    /line 4: a slot's value: expected RLP/,
    (_, line) => line(3, '"a009', '"a10909'),
  ],
  [
    "storage twice",
    /line 4: field storage is there twice/,
    (_, line) => line(3, '"storage"', '"storage":{},"storage"'),
  ],
  ["a slot of zero", /line 4: a slot's value: expected RLP/, (_, line) => line(3, '"05"', '"80"')],
  [
    "a slot's value in a longer form",
    /line 4: a slot's value: expected RLP/,
    (_, line) => line(3, '"05"', '"8105"'),
  ],
  [
    "a slot's value that is no hex",
    /line 4: a slot's value: expected hex digits/,
    (_, line) => line(3, '"05"', '"5"'),
  ],
  [
    "missing code",
    /line 4: account 0x.*: its code 0x.* is missing \(geth's --nocode/,
    (_, line) => line(3, /"code":"\w+",/, ""),
  ],
  [
    "other code",
    /line 4: account 0x.*: expected code with the hash 0x.*, got one with 0x/,
    (_, line) => line(3, '"0x6001"', '"0x6002"'),
  ],
  ["a line cut short", /line 4: the input ends within it \(truncated\?\)/, (_, line) => line(3, /.{9}$/, "")],
  [
    "a line cut short before others",
    /line 2: expected a value, got the end of the line/,
    (_, line) => line(1, /\d+,.*/, ""),
  ],
  ["an array", /line 2: expected an object: "{", got "\["/, (_, line) => line(1, "{", "[{")],
  [
    "a name without end",
    /line 5: a name is longer than 256 bytes/,
    lines => lines.push(`{"${"a".repeat(5 << 20)}`),
  ],
];

test("whatever is wrong with a state is told with its line, and nothing of it stays", async () => {
  const {lines, headerPath} = await smallState();
  const db = folder.file("refused");
  const take = async (bytes: string | Buffer): Promise<string> => {
    await writeFile(folder.file("edited"), bytes);
    const outcome = await importSource(db, sourceOf(folder.file("edited"), headerPath), {suite: "keccak"});
    return outcome.ok ? "taken" : outcome.message;
  };
  const text = `${lines.join("\n")}\n`;
  for (const [what, message, edit] of REFUSED) {
    const edited = [...lines];
    edit(edited, (at, from, to) => {
      const changed = edited[at]?.replace(from, to) ?? assert.fail(what);
      assert.notEqual(changed, edited[at], what);
      edited[at] = changed;
    });
    assert.match(await take(edited.join("\n")), message, what);
  }
  assert.match(
    await take(gzipSync(text).subarray(0, -20)),
    /line \d: .*edited does not unpack: unexpected end of file/,
  );
  const store = await openOwned(db);
  assert.deepEqual(await storedPages(store), []);
  await store.close();
  // As geth writes it: a root without 0x, an address that it knows.
  const known = text.replace('"0x', '"').replace('"key"', `"address":"${toHex(PAYER)}","key"`);
  assert.equal(await take(known), "taken");
  await tamper(db, level => level.del(codeKey(keccak256(CODE))));
  const {found} = await checkStore(db);
  assert.match(
    found[0] ?? "",
    /^block 1000, state trie, account 0x.*: RECORD_MISSING: code 0x.* is not in the store$/,
  );
});

const HEADERS: readonly (readonly [
  what: string,
  message: RegExp,
  bytes: (header: Buffer) => string | Buffer,
])[] = [
  ["no bytes", /expected a header as RLP, its hex \(0x\.\.\), or debug_getRawHeader's response/, () => ""],
  ["text", /expected a header as RLP, its hex/, () => "header"],
  ["an error of a node", /expected a header as RLP, its hex/, () => '{"error":{"code":-32601}}'],
  ["other RLP", /item 1: expected a block's header, got other bytes/, () => Buffer.of(0xc1, 0x80)],
  [
    "a header twice",
    /expected the header of block 1001 with the parent 0x.* after that of block 1000, got that of block 1000/,
    header => Buffer.concat([header, header]),
  ],
  [
    "a header of another parent",
    /expected the header of block 1001 with the parent .* got that of block 1001 with the parent 0x00/,
    header => Buffer.concat([header, headerOf(WORD, 1001n)]),
  ],
  [
    "a header too many blocks later",
    /expected the header of block 1001 .* got that of block 1002/,
    header => Buffer.concat([header, headerOf(WORD, 1002n, keccak256(header))]),
  ],
];

test("a header is taken in each of its forms, and others are refused", async () => {
  const {lines, headerPath, root} = await smallState();
  const path = folder.file("right.ndjson");
  await writeFile(path, lines.join("\n"));
  const header = await readFile(headerPath);
  const take = async (bytes: string | Buffer, rules = {}) => {
    await writeFile(folder.file("form"), bytes);
    const db = folder.file(`header-${bytes.length}`);
    return importSource(db, sourceOf(path, folder.file("form")), {suite: "keccak", ...rules});
  };
  for (const [what, message, bytes] of HEADERS) {
    const outcome = await take(bytes(header));
    assert.ok(!outcome.ok && outcome.isFinal, what);
    assert.match(outcome.message, message, what);
  }
  const other = await take(header, {head: new Uint8Array(32)});
  assert.match(other.ok ? "" : other.message, /expected the head 0x0000.*, got block 1000/);
  const head = keccak256(header);
  for (const form of [header, toHex(header), `{"jsonrpc":"2.0","id":1,"result":"${toHex(header)}"}`])
    assert.ok((await take(form, {head})).ok);
  // Nothing is before block 0, whatever its header says.
  const first = await take(Buffer.from(headerOf(root, 0n)));
  assert.ok(first.ok && first.head.latest === 0, first.ok ? "" : first.message);
});

test("an import that is killed leaves nothing that is served, and one that fails no folder", async () => {
  const {lines, headerPath} = await smallState();
  const db = folder.file("a/b/killed");
  const flags = ["import", "--db", db, "--header", headerPath, "--state", "-"];
  const failed = await runProofd(flags, {input: lines.slice(0, 3).join("\n")});
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^error: -, line 3, its end: block 1000: expected state root/);
  assert.ok(!existsSync(folder.file("a")));
  const killed = new Daemon(flags);
  killed.child.stdin.write(`${lines[0]}\n{"storage":{`);
  const bytesIn = () =>
    existsSync(db) ? readdirSync(db).reduce((sum, name) => sum + statSync(join(db, name)).size, 0) : 0;
  let slot = 0;
  const writeSlots = async (): Promise<void> => {
    const slots = Array.from(
      {length: 5000},
      () => `"${(slot++).toString(16).padStart(64, "0")}":"a0${"9".repeat(64)}"`,
    );
    await new Promise(resolve => killed.child.stdin.write(`${slots.join(",")},`, resolve));
  };
  await waitUntil("pages to be written ahead", () => bytesIn() > 1 << 20, writeSlots);
  killed.child.kill("SIGKILL");
  await killed.finished;
  const {blocks, found} = await checkStore(db);
  assert.deepEqual([blocks, found], [0, []]);
  assert.equal((await runProofd(flags, {input: lines.join("\n")})).code, 0);
  const again = await runHere(flags);
  assert.match(again.stdout, /^imported 0 blocks, 1 already in the store/, again.stderr);
  const other = await runHere([...flags, "--suite", "sha256"]);
  assert.equal(other.code, 2);
  assert.equal(other.stderr, "error: --suite: expected keccak, that of a state of geth, got sha256\n");
  const store = await openOwned(db);
  assert.deepEqual(await storedPages(store), reachablePages(store.reader, [1000]));
  await store.close();
});
