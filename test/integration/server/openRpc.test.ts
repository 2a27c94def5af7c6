/** rpc.discover: the document is OpenRPC, has every method, and what each method really answers is as it says. */
import assert from "node:assert/strict";
import {readFile} from "node:fs/promises";
import {after, before, describe, test} from "node:test";
import * as metaSchema from "@open-rpc/meta-schema";
import {Ajv} from "ajv";
import {MethodTable} from "../../../server/methods/table.ts";
import {VERSION} from "../../../server/version.ts";
import {Engine} from "../../../workers/engine.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {createEvent, createStep} from "../../support/chains/finalityEvents.ts";
import {headLines} from "../../support/chains/headedLines.ts";
import {
  ABSENT_ACCOUNT,
  ACCOUNTS,
  CHAIN_ID,
  createLine,
  createLines,
  WorkFolder,
} from "../../support/chains/serviceChain.ts";
import type {Answer} from "../../support/http/jsonrpcAnswer.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {FINALIZED, LATEST} from "../../support/http/provenService.ts";
import {importLines} from "../../support/stores/importedStore.ts";

interface Described {
  readonly name: string;
  readonly params: readonly {readonly required: boolean; readonly schema: object}[];
  readonly result: {readonly schema: object};
  readonly errors: readonly {readonly code: number; readonly message: string}[];
}

type Params = readonly unknown[];

const METHOD_NAMES = new MethodTable("linea").names;
/** Those of a namespace have a section of their own. */
const PRINTED_NAMES = new MethodTable().names;
const OWN_FILE = "test/integration/server/openRpc.test.ts";
const PAGE = "docs/json-rpc.md";

/** The specification's own schema, which refers to that of JSON schemas by another address than everybody else. */
const META_SCHEMA = JSON.stringify(
  (metaSchema as unknown as {readonly openrpcDocument: object}).openrpcDocument,
).replaceAll(
  /"https:\/\/meta\.json-schema\.tools[^"]*?(\/properties\/\$ref)?"/g,
  '"http://json-schema.org/draft-07/schema#$1"',
);

const ACCOUNT = ACCOUNTS[0] as string;
const PROOFS: readonly Params[] = [
  [ACCOUNT, [], "latest"],
  [ACCOUNT.toUpperCase().replace("0X", "0x"), ["0x1", "0x99"], "0x0"],
  [ABSENT_ACCOUNT, ["0x1"], {blockNumber: "0x1"}],
];
const WRONG_PROOFS: readonly [number, Params][] = [
  [-32602, [ACCOUNT]],
  [-32001, [ACCOUNT, [], "0xff"]],
  [-32002, [ACCOUNT, [], `0x${LATEST.toString(16)}`]],
  [-32005, [ACCOUNT, Array.from({length: 1025}, () => "0x1"), "latest"]],
];
/** Without a block: the newest finalized one. */
const ETH_PROOFS: readonly Params[] = [
  ...PROOFS,
  [ACCOUNT, ["0x1", `0x${"0".repeat(63)}1`]],
  [ACCOUNT, ["0x"], null],
];
const MULTI_PROOFS: readonly Params[] = [
  [[{address: ACCOUNT, storageKeys: []}], "latest"],
  [
    [
      {address: ACCOUNT, storageKeys: ["0x1", "0x99", "0x1"]},
      {address: ABSENT_ACCOUNT, storageKeys: ["0x1"]},
      {address: ACCOUNT.toUpperCase().replace("0X", "0x"), storageKeys: ["0x2"]},
      {address: ACCOUNTS[1] as string, storageKeys: []},
    ],
    {blockNumber: "0x1"},
  ],
];
const WRONG_MULTI_PROOFS: readonly [number, Params][] = [
  [-32602, [[], "latest"]],
  [-32602, [[{address: ACCOUNT, storageKeys: []}], "latest", "KECCAK"]],
  [-32001, [[{address: ACCOUNT, storageKeys: []}], "0xff"]],
  [-32002, [[{address: ACCOUNT, storageKeys: []}], `0x${LATEST.toString(16)}`]],
  [-32005, [Array.from({length: 2001}, () => ({address: ACCOUNT, storageKeys: []})), "latest"]],
];
/** With their entries as arrays. */
const asTargets = (params: Params): Params => [
  (params[0] as {address: string; storageKeys: string[]}[]).map(entry => Object.values(entry)),
  ...params.slice(1, 2),
];
const READS: readonly Params[] = [[ACCOUNT], [ABSENT_ACCOUNT, null], [ACCOUNT, {blockNumber: "0x1"}]];
const WRONG_READS: readonly [number, Params][] = [
  [-32602, []],
  [-32602, [ACCOUNT, 1]],
  [-32001, [ACCOUNT, "0xff"]],
  [-32002, [ACCOUNT, `0x${LATEST.toString(16)}`]],
];
/** With a slot. */
const asSlots = ([address, ...block]: Params): Params => [address, "0x1", ...block];
const LEAVES: readonly Params[] = [
  ["accounts", "0x0", "0x1000", "latest"],
  [ACCOUNT.toUpperCase().replace("0X", "0x"), "0x1", "0x1", "0x0"],
  [ABSENT_ACCOUNT, "0xffffffffff", "0x1", {blockNumber: "0x1"}],
];
const WRONG_LEAVES: readonly [number, Params][] = [
  [-32602, ["slots", "0x0", "0x1", "latest"]],
  [-32602, ["accounts", "0x0", "0x1"]],
  [-32602, ["accounts", "0x10000000000", "0x1", "latest"]],
  [-32602, ["accounts", "0xffffffffff", "0x1", "latest"]],
  [-32602, ["accounts", "0x0", "0x0", "latest"]],
  [-32602, ["accounts", "0x0", "0x1001", "latest"]],
  [-32001, ["accounts", "0x0", "0x1", "0xff"]],
  [-32002, ["accounts", "0x0", "0x1", `0x${LATEST.toString(16)}`]],
];
const CHANGES: readonly Params[] = [
  ["accounts", "0x0", "latest", "0x0", "0x1"],
  ["all", "safe", "0x0", "0x20000000003", "0x1000"],
  [ACCOUNT, {blockNumber: "0x1"}, "earliest", "0x00000000000000000000", "0x3"],
  [ABSENT_ACCOUNT, "0x2", "0x2", "0xfffffffffffffffffffe", "0x1"],
];
const WRONG_CHANGES: readonly [number, Params][] = [
  [-32602, []],
  [-32602, ["slots", "0x0", "latest", "0x0", "0x1"]],
  [-32602, ["all", "0x0", "latest", "0x0"]],
  [-32602, ["all", "0x0", "latest", "0x", "0x1"]],
  [-32602, ["all", "0x0", "latest", "0x000000000000000000000", "0x1"]],
  [-32602, ["all", "0x0", "latest", "0xffffffffffffffffffff", "0x1"]],
  [-32602, ["accounts", "0x0", "latest", "0x20000000003", "0x1"]],
  [-32602, ["all", "0x0", "latest", "0x0", "0x0"]],
  [-32602, ["all", "0x0", "latest", "0x0", "0x1001"]],
  [-32001, ["all", "0x0", "0xff", "0x0", "0x1"]],
  [-32001, ["all", "0xff", "0x0", "0x0", "0x1"]],
  [-32002, ["all", `0x${LATEST.toString(16)}`, "0x0", "0x0", "0x1"]],
  [-32002, ["all", "0x0", `0x${LATEST.toString(16)}`, "0x0", "0x1"]],
];
const ESTIMATES: readonly Params[] = [
  [{from: ACCOUNT, to: ABSENT_ACCOUNT, value: "0x1"}],
  [{to: ABSENT_ACCOUNT, gas: 100_000, data: null}, "5"],
  [{to: ABSENT_ACCOUNT, accessList: [{address: ACCOUNT, storageKeys: ["0x1"]}]}, "latest", null],
  [{from: ABSENT_ACCOUNT, to: ACCOUNT, value: "7"}, {[ABSENT_ACCOUNT]: {balance: "0xffff"}}],
  [{to: ACCOUNT}, null, null, {number: "0x5", prevRandao: `0x${"ab".repeat(32)}`, feeRecipient: null}],
];
const CALLS: readonly Params[] = [
  [{to: ABSENT_ACCOUNT, data: "0x12"}],
  [{from: ACCOUNT, to: ABSENT_ACCOUNT, value: "0x1"}, {blockNumber: "0x1"}, null, null],
  [{data: "0x60aa5f5360015ff3"}, "earliest", {[ABSENT_ACCOUNT]: {balance: "0x1"}}, {time: "0x77777777"}],
];
/** REVERT without data, and INVALID, as creations. */
const REVERTING = {data: "0x5f5ffd"};
const FAILING = {data: "0xfe"};
const WITNESSED_CALLS: readonly Params[] = [
  [{to: ABSENT_ACCOUNT, data: "0x12"}],
  [{from: ACCOUNT, to: ABSENT_ACCOUNT, value: "0x1"}, {blockNumber: "0x1"}],
  [REVERTING, null],
  [FAILING, "earliest"],
];
const WRONG_WITNESSED_CALLS: readonly [number, Params][] = [
  [-32602, []],
  [-32001, [{}, "0xff"]],
  [-32002, [{}, `0x${LATEST.toString(16)}`]],
  [-32602, [{}, "latest", {}]],
  [-32000, [{to: ABSENT_ACCOUNT, gas: "0x64"}]],
];
const WRONG_ESTIMATES: readonly [number, Params][] = [
  [-32602, []],
  [-32001, [{}, "0xff"]],
  [-32602, [{}, {blocknumber: "0x0"}]],
  [-32602, [{value: "0x064"}]],
  [3, [REVERTING]],
  [-32000, [FAILING]],
];

const WRONG_CALLS: readonly [number, Params][] = [
  ...WRONG_ESTIMATES,
  [-32602, [{}, "5"]],
  [-32602, [{}, "latest", {}, {beaconRoot: `0x${"00".repeat(32)}`}]],
  [-32002, [{}, `0x${LATEST.toString(16)}`]],
];

const GOOD: Readonly<Record<string, readonly Params[]>> = {
  chain_getProof: PROOFS,
  chain_getProofAt: [
    ...PROOFS,
    [ACCOUNT, [], "latest", "sha256"],
    [ABSENT_ACCOUNT, [], "latest", null],
    [ACCOUNT, ["0x1"], "0x1", "keccak"],
  ],
  eth_getProof: ETH_PROOFS,
  chain_getMultiProof: [
    ...MULTI_PROOFS,
    ...["sha256", "keccak", null].map(suite => [[{address: ACCOUNT, storageKeys: ["0x1"]}], "latest", suite]),
  ],
  eth_getMultiProof: [...MULTI_PROOFS.map(asTargets), [[[ACCOUNT, []]]], [[[ACCOUNT, ["0x1"]]], null]],
  chain_getLeaves: LEAVES,
  chain_getChanges: CHANGES,
  eth_getBalance: READS,
  eth_getTransactionCount: READS,
  eth_getCode: READS,
  eth_getStorageAt: [...READS.map(asSlots), [ACCOUNT, "0x"]],
  linea_getProof: PROOFS,
  eth_call: CALLS,
  proof_call: WITNESSED_CALLS,
  chain_estimateGas: ESTIMATES,
  linea_estimateGas: ESTIMATES,
  rollup_getZkEVMBlockNumber: [[]],
  chain_getStateRoot: [[], [null], ["latest"], ["0x2"], [{blockNumber: "0x2", requireCanonical: true}]],
  chain_getHeader: [["latest"], ["0x0"], [{blockNumber: "0x2"}]],
  chain_getCodes: [[[`0x${"ab".repeat(32)}`]], [[`0x${"AB".repeat(32)}`, `0x${"00".repeat(32)}`]]],
  chain_getFinalizations: [[], [null], ["0x2", null], ["0x0", "0x3e8"]],
  chain_getCoverage: [[]],
  chain_chainId: [[]],
  eth_chainId: [[]],
  eth_blockNumber: [[]],
  eth_getBlockByNumber: [
    ["latest", false],
    ["0x1", false],
    ["0xff", true],
  ],
  eth_getBlockByHash: [[`0x${"ab".repeat(32)}`, false]],
  eth_capabilities: [[]],
  net_version: [[]],
  web3_clientVersion: [[]],
  "rpc.discover": [[]],
};

/** Parameters that methods refuse, and the codes. */
const WRONG: Readonly<Record<string, readonly [number, Params][]>> = {
  chain_getProof: WRONG_PROOFS,
  chain_getProofAt: [...WRONG_PROOFS, [-32602, [ACCOUNT, [], "latest", "poseidon2"]]],
  eth_getProof: [[-32602, [ACCOUNT, [""]]], ...WRONG_PROOFS.filter(([, {length}]) => length > 1)],
  chain_getMultiProof: WRONG_MULTI_PROOFS,
  eth_getMultiProof: [
    ...WRONG_MULTI_PROOFS.filter(([, {length}]) => length < 3).map(([code, params]): [number, Params] => [
      code,
      asTargets(params),
    ]),
    [-32602, [[{address: ACCOUNT, storageKeys: []}]]],
    [-32602, [[[ACCOUNT]]]],
  ],
  chain_getLeaves: WRONG_LEAVES,
  chain_getChanges: WRONG_CHANGES,
  eth_getBalance: WRONG_READS,
  eth_getTransactionCount: WRONG_READS,
  eth_getCode: WRONG_READS,
  eth_getStorageAt: [
    [-32602, [ACCOUNT]],
    ...WRONG_READS.slice(1).map(([code, params]): [number, Params] => [code, asSlots(params)]),
  ],
  eth_call: WRONG_CALLS,
  proof_call: WRONG_WITNESSED_CALLS,
  chain_estimateGas: WRONG_ESTIMATES,
  linea_getProof: [
    [-32602, [ACCOUNT]],
    [-32600, [ACCOUNT, [], "0xff"]],
  ],
  linea_estimateGas: WRONG_ESTIMATES,
  chain_getStateRoot: [
    [-32001, ["0xff"]],
    [-32602, ["0x00"]],
    [-32602, [{BlockNumber: "0x0"}]],
  ],
  chain_getHeader: [
    [-32602, []],
    [-32001, ["0xff"]],
  ],
  eth_getBlockByNumber: [
    [-32602, ["0x1"]],
    [-32602, ["0x1", true]],
    [-32602, ["0x01", false]],
  ],
  chain_getCodes: [
    [-32602, [[]]],
    [-32602, [["0x1"]]],
    [-32602, [`0x${"ab".repeat(32)}`]],
    [-32005, [Array.from({length: 257}, () => `0x${"ab".repeat(32)}`)]],
  ],
  chain_getFinalizations: [
    [-32602, ["latest"]],
    [-32602, ["0x0", "0x0"]],
    [-32602, ["0x0", "0x3e9"]],
    [-32602, ["0x0", 1]],
  ],
};

describe("the OpenRPC document", () => {
  const ajv = new Ajv({strict: true, strictRequired: false, allErrors: true});
  const folder = new WorkFolder();
  let daemon: OwnService;
  let document: {readonly info: {readonly version: string}; readonly methods: readonly Described[]};

  before(async () => {
    const directory = folder.file("db");
    // With headers, the store has Ethereum's state trie too.
    const {lines} = await headLines(createLines(0, LATEST));
    await importLines(directory, lines, {finalized: FINALIZED});
    const engine = await Engine.open({directory, workers: 0, cacheBytes: 1 << 20, createIfMissing: false});
    const events = [createEvent(1, 1, 5, {startBlock: undefined}), createEvent(2, 2, 6)];
    await engine.writes.recordFinality(createStep(9, ...events));
    await engine.close();
    daemon = await OwnService.serve(
      ["--db", directory, "--workers", "1", "--hardfork", "prague", "--namespace", "linea"],
      {estimates: true},
    );
    document = (await daemon.call("rpc.discover")).result;
  });

  after(() => daemon.stop());

  function assertValid(schema: object, value: unknown, what: string): void {
    const isValid = ajv.compile(schema);
    assert.ok(isValid(value), `${what}: ${ajv.errorsText(isValid.errors)} in ${JSON.stringify(value)}`);
  }

  function assertKnownError(method: Described, answer: Answer, code: number): void {
    assert.equal(answer.error?.code, code, JSON.stringify(answer));
    const codes = method.errors.map(error => error.code);
    assert.ok(codes.includes(code), `${method.name} has ${code}, and names ${codes}`);
  }

  test("is OpenRPC, of this version, and has every method once", () => {
    const metaAjv = new Ajv({strict: false});
    const {$schema: _, ...schema} = JSON.parse(META_SCHEMA);
    assert.ok(metaAjv.validate(schema, document), metaAjv.errorsText(metaAjv.errors));
    assert.equal(document.info.version, VERSION);
    assert.deepEqual(
      document.methods.map(({name}) => name),
      METHOD_NAMES,
    );
  });

  test("has only methods that are asked here and described to users", async () => {
    const page = await readFile(new URL(import.meta.resolve(`#package/${PAGE}`)), "utf8");
    const unasked = METHOD_NAMES.filter(name => !(name in GOOD));
    const unprinted = PRINTED_NAMES.filter(name => !page.includes(`\`${name}\``));
    const missing = [
      ...unasked.map(name => `add a sample call for ${name} to GOOD in ${OWN_FILE}`),
      ...unprinted.map(name => `add a row for \`${name}\` to ${PAGE}`),
    ];
    const unknown = Object.keys({...GOOD, ...WRONG}).filter(name => !METHOD_NAMES.includes(name));
    const needless = unknown.map(name => `remove ${name} from ${OWN_FILE}: there is no such method`);
    assert.deepEqual([...missing, ...needless], []);
  });

  test("names each error of a method once", () => {
    for (const {name, errors} of document.methods) {
      const codes = errors.map(({code}) => code);
      assert.equal(new Set(codes).size, codes.length, name);
      for (const {code, message} of errors) assert.ok(message !== undefined && message !== "", `${code}`);
    }
  });

  test("describes what every method is asked with and answers", async () => {
    for (const {name, params, result} of document.methods) {
      for (const good of GOOD[name] ?? []) {
        const answer = await daemon.call(name, good);
        assert.equal(answer.error, undefined, JSON.stringify([name, good, answer.error]));
        assertValid(result.schema, answer.result, name);
        assert.ok(
          good.length >= params.filter(({required}) => required).length && good.length <= params.length,
        );
        for (const [at, value] of good.entries())
          assertValid(params[at]?.schema as object, value, `${name}, params[${at}]`);
      }
    }
  });

  test("names the errors that every method answers", async () => {
    for (const method of document.methods) {
      assertKnownError(method, await daemon.call(method.name, {block: "latest"}), -32602);
      const tooMany = Array.from({length: method.params.length + 1}, () => "latest");
      assertKnownError(method, await daemon.call(method.name, tooMany), -32602);
      for (const [code, params] of WRONG[method.name] ?? [])
        assertKnownError(method, await daemon.call(method.name, params), code);
    }
  });

  test("names what methods answer that are not available", async () => {
    const {chainId: _, ...nameless} = createLine(0, 0);
    const limited = await OwnService.fed(folder.file("nameless"));
    limited.input.end(encodeLines([nameless]));
    await limited.waitForStderr(/the import has ended/);
    const noTrie =
      /^eth_getProof, eth_getMultiProof, proof_call and the suite keccak are not available: .* of block 0\. Use chain_getProof, or/;
    for (const [name, params, message] of [
      ["chain_estimateGas", [{}], /^chain_estimateGas is not available: /],
      ["eth_call", [{}], /^eth_call is not available: /],
      ["proof_call", [{}], /^proof_call is not available: /],
      ["eth_getProof", [ACCOUNT, []], noTrie],
      ["eth_getMultiProof", [[[ACCOUNT, []]]], noTrie],
      ["chain_getProofAt", [ACCOUNT, [], "latest", "keccak"], noTrie],
      ["chain_getMultiProof", [[{address: ACCOUNT, storageKeys: []}], "latest", "keccak"], noTrie],
      ["eth_getBlockByNumber", ["0x0", false], /^eth_getBlockByNumber is not available: /],
      ["chain_chainId", [], /^chain_chainId is not available: /],
      ["eth_chainId", [], /^eth_chainId is not available: /],
      ["net_version", [], /^net_version is not available: /],
    ] as const) {
      const method = document.methods.find(one => one.name === name);
      assert.ok(method !== undefined);
      const answer = await limited.call(name, params);
      assertKnownError(method, answer, -32004);
      assert.match(answer.error.message, message);
    }
    assert.deepEqual((await limited.call("eth_capabilities")).result.stateproofs, {disabled: true});
    await limited.stop();
  });

  test("eth_capabilities names the blocks that eth_getProof answers for, as routers compare them", async () => {
    const {head, stateproofs, ...others} = (await daemon.call("eth_capabilities")).result;
    assert.deepEqual(stateproofs, {disabled: false, oldestBlock: "0x0"});
    assert.equal(head.number, `0x${FINALIZED.toString(16)}`);
    assert.equal(head.hash, (await daemon.call("chain_getStateRoot", [head.number])).result.hash);
    for (const [name, resource] of Object.entries(others)) assert.deepEqual(resource, {disabled: true}, name);
    for (const block of [head.number, head.hash, {blockHash: head.hash}, stateproofs.oldestBlock])
      assert.equal((await daemon.call("eth_getProof", [ACCOUNT, [], block])).error, undefined, block);
  });

  test("is refused where a batch asks for more of them than a request may cost", async () => {
    const batch = Array.from({length: 101}, (_, id) => ({jsonrpc: "2.0", id, method: "rpc.discover"}));
    const refused: Answer = await daemon.send(batch);
    assert.equal(refused.error?.code, -32005);
    assert.deepEqual(refused.error?.data, {limit: 20_000, got: 101 * 200});
    assert.equal((await daemon.send(batch.slice(1))).length, 100);
  });

  test("the first calls of Ethereum clients are answered with the chain's id and the newest block, finalized or not", async () => {
    const names = ["eth_chainId", "net_version", "eth_blockNumber", "rollup_getZkEVMBlockNumber"];
    const answers = await daemon.send(names.map((method, id) => ({jsonrpc: "2.0", id, method, params: []})));
    const latest = `0x${LATEST.toString(16)}`;
    assert.deepEqual(
      answers.map(({result}: Answer) => result),
      [CHAIN_ID, String(Number(CHAIN_ID)), latest, latest],
    );
  });
});
