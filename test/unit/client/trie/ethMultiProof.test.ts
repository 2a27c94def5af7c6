/** Multiproofs of Ethereum's state trie: what is gathered from single answers is accepted, and nothing that differs from it. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {isEqual} from "../../../../client/bytes/byteString.ts";
import {encodeHex} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../../../client/proof/request.ts";
import {verifyEthMultiProof} from "../../../../client/trie/ethMultiProof.ts";
import {type ProvenEth, verifyEthProof} from "../../../../client/trie/ethProof.ts";
import {EMPTY_TRIE} from "../../../../client/trie/trieProof.ts";
import {
  EthState,
  gatherNodes,
  type HeldAccount,
  joinNodes,
  NEAR_SLOTS,
} from "../../../support/reference/ethState.ts";
import {
  BYTE_FORGERIES,
  complaintOf,
  forge,
  pickFrom,
  TRIE_NODES,
} from "../../../support/reference/forgeries.ts";
import {applyEdits} from "../../../support/reference/jsonPath.ts";

const CONTRACT = `0x${"11".repeat(20)}`;
/** Has the same storage. */
const TWIN = `0x${"12".repeat(20)}`;
const ABSENT = `0x${"33".repeat(20)}`;
const KEYS = ["0x3", encodeHex(word(4)), ...NEAR_SLOTS.map(slot => `0x${slot.toString(16)}`), "0x99", "0x3"];
const HEX = /^0x(?:[0-9a-f]{2})*$/;

let state: EthState;
let request: readonly ProofRequest[];
let nodes: readonly string[];
let bytes: Uint8Array;
let proven: readonly ProvenEth[];

before(async () => {
  const slots = new Map(
    [...Array.from({length: 20}, (_, i) => BigInt(i)), ...NEAR_SLOTS].map(slot => [slot, 7n + (slot % 100n)]),
  );
  const plain = Array.from({length: 40}, (_, i) => encodeHex(word(i).subarray(12)));
  state = await EthState.create(
    new Map<string, HeldAccount>([
      [CONTRACT, {nonce: 7n, balance: 10n ** 24n, slots}],
      [TWIN, {nonce: 1n, balance: 0n, slots}],
      ...plain.map((address, i) => [address, {nonce: BigInt(i), balance: 9n, slots: new Map()}] as const),
    ]),
  );
  request = [
    {address: TWIN, storageKeys: KEYS.slice(2)},
    {address: ABSENT, storageKeys: ["0x1"]},
    {address: CONTRACT, storageKeys: KEYS},
    {address: plain[3] as string, storageKeys: ["0x5"]},
  ];
  const answers = await Promise.all(request.map(entry => state.prove(entry.address, entry.storageKeys)));
  proven = request.map(({address, storageKeys}, i) =>
    verifyEthProof(state.root, address, storageKeys, answers[i]),
  );
  nodes = gatherNodes(answers);
  bytes = joinNodes(nodes);
});

test("each entry is proven as by an answer of its own, in any order, and if it is asked for twice", () => {
  assert.deepEqual(verifyEthMultiProof(state.root, request, bytes), proven);
  const again = {address: CONTRACT.toUpperCase().replace("X", "x"), storageKeys: ["0x04", "0x3"]};
  const turned = verifyEthMultiProof(state.root, [...request.toReversed(), again], bytes);
  assert.deepEqual(turned.slice(0, -1), proven.toReversed());
  assert.deepEqual(turned.at(-1), {account: proven[2]?.account, slots: [11n, 10n]});
});

test("an empty trie has no nodes", async () => {
  const entries = [{address: CONTRACT, storageKeys: ["0x1"]}];
  const none = {account: undefined, slots: [undefined]};
  assert.deepEqual(verifyEthMultiProof(EMPTY_TRIE, entries, Uint8Array.of(5)), [none]);
  assert.throws(
    () => verifyEthMultiProof(EMPTY_TRIE, entries, bytes),
    /^ProofError: byte 1: expected the end/,
  );
});

/** What is said of proofs in which one place is changed. What a node may be is in trieProof.test. */
const RULES = [
  /^byte 0: expected 1 byte, got 0/,
  /^byte 0: expected 5, for a proof of Ethereum's trie, got/,
  /^byte 1: does not hash to the trusted root/,
  /^byte \d{3,}: is not the child/,
  /^byte \d{3,}: RLP ends too early/,
  /^byte \d{3,}: RLP is not in its shortest form/,
  /^byte \d{3,}: expected at most 532 bytes, got/,
  /^byte \d{3,}: expected the end of the proof, got \d+ more bytes/,
];

test("a proof in which any one place is changed is refused, and each rule refuses some", t => {
  const said: string[] = [];
  const refuse = (forged: Uint8Array) => {
    if (isEqual(forged, bytes)) return;
    said.push(complaintOf(() => verifyEthMultiProof(state.root, request, forged)));
  };
  for (const {path, value} of forge({nodes}, TRIE_NODES)) {
    const {nodes: forged} = applyEdits({nodes}, [{path, value: value()}]) as {nodes: readonly string[]};
    if (forged.every(node => HEX.test(node))) refuse(joinNodes(forged));
  }
  refuse(new Uint8Array());
  refuse(joinNodes([...nodes.slice(0, 3), `0xf90258${"00".repeat(600)}`]));
  const pick = pickFrom(7);
  for (const change of Object.values(BYTE_FORGERIES))
    for (let i = 0; i < 300; i++) refuse(change(bytes, pick, () => false));
  t.diagnostic(`${said.length} forgeries`);
  assert.ok(said.length > 2000, `${said.length} forgeries`);
  assert.deepEqual(
    RULES.filter(rule => !said.some(message => rule.test(message))),
    [],
  );
});

const OTHER_KEYS = /: (is not the child|expected the end of the proof.*)$/;

test("another request, another root and a request that is none are refused", () => {
  const verify = (entries: readonly ProofRequest[], root = state.root) =>
    complaintOf(() => verifyEthMultiProof(root, entries, bytes));
  const [twin, absent, contract, plain] = request as [ProofRequest, ProofRequest, ProofRequest, ProofRequest];
  assert.match(verify(request.slice(1)), OTHER_KEYS);
  assert.match(verify([twin, absent, contract]), OTHER_KEYS);
  const fewer = {...contract, storageKeys: KEYS.slice(1, 3)};
  assert.match(verify([twin, absent, fewer, plain]), OTHER_KEYS);
  assert.match(verify(request, word(1)), /^byte 1: does not hash to the trusted root$/);
  assert.match(verify([]), /^request: expected 1 to 16384 entries, got 0$/);
  assert.match(verify([{...twin, address: "0x12"}]), /^request: expected an address/);
  assert.match(verify([{...twin, storageKeys: ["0x"]}]), /^request: expected a storage key/);
});
