/** Answers of eth_getProof: what nodes publish is accepted, and nothing that differs from it. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../client/hash/hashSuites.ts";
import {NO_CODE_KECCAK} from "../../../../client/proof/account.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import {verifyHeader} from "../../../../client/trie/blockHeader.ts";
import {verifyEthProof} from "../../../../client/trie/ethProof.ts";
import {EMPTY_TRIE} from "../../../../client/trie/trieProof.ts";
import {type EthAnswer, EthState, type HeldAccount, NEAR_SLOTS} from "../../../support/reference/ethState.ts";
import {readFixture} from "../../../support/reference/fixtures.ts";
import {complaintOf, ETH_PROOF, flip, forgeAnswers} from "../../../support/reference/forgeries.ts";

const ADDRESS = `0x${"11".repeat(20)}`;
const PLAIN = `0x${"22".repeat(20)}`;
const ABSENT = `0x${"33".repeat(20)}`;
/** Present, short, as a word, in its parent, absent, and one twice. */
const KEYS = ["0x3", encodeHex(word(4)), ...NEAR_SLOTS.map(slot => `0x${slot.toString(16)}`), "0x99", "0x3"];

let state: EthState;
before(async () => {
  const slots = new Map(
    [...Array.from({length: 20}, (_, i) => BigInt(i)), ...NEAR_SLOTS].map(slot => [slot, 7n + (slot % 100n)]),
  );
  const accounts = new Map<string, HeldAccount>([
    [ADDRESS, {nonce: 7n, balance: 10n ** 24n, slots}],
    [PLAIN, {nonce: 0n, balance: 5n, slots: new Map()}],
  ]);
  for (let i = 0; i < 40; i++)
    accounts.set(encodeHex(word(i).subarray(12)), {nonce: BigInt(i), balance: 9n, slots: new Map()});
  state = await EthState.create(accounts);
});

interface Published {
  readonly blockHash: string;
  readonly number: number;
  readonly header: string;
  readonly result: EthAnswer;
}

test("an answer that geth published is accepted, from the hash of its block on", () => {
  const {blockHash, number, header, result} = readFixture<Published>("published/ethProof");
  const proven = verifyHeader(decodeHex(blockHash), decodeHex(header));
  assert.equal(proven.number, BigInt(number));
  const {account, slots} = verifyEthProof(proven.stateRoot, result.address, [], result);
  const {storageHash, codeHash} = result;
  assert.deepEqual(
    {account, slots},
    {account: {nonce: 0n, balance: 0x76n, storageHash, codeHash}, slots: []},
  );
});

test("a header is refused with any bit changed, and so is what has its hash and is none", () => {
  const {blockHash, header} = readFixture<Published>("published/ethProof");
  const bytes = decodeHex(header);
  for (let bit = 0; bit < 8 * bytes.length; bit += 3)
    assert.throws(
      () => verifyHeader(decodeHex(blockHash), flip(bytes, bit)),
      /^ProofError: header: does not hash to the trusted block hash$/,
    );
  assert.throws(
    () => verifyHeader(EMPTY_TRIE, Uint8Array.of(0x80)),
    /^ProofError: header: expected an RLP list/,
  );
});

test("accounts and slots, present and absent, are proven", async () => {
  const answer = await state.prove(ADDRESS, KEYS);
  const {account, slots} = verifyEthProof(state.root, ADDRESS.toUpperCase().replace("X", "x"), KEYS, answer);
  assert.deepEqual(account, {
    nonce: 7n,
    balance: 10n ** 24n,
    storageHash: answer.storageHash,
    codeHash: encodeHex(NO_CODE_KECCAK),
  });
  assert.deepEqual(slots, [10n, 11n, 71n, 73n, undefined, 10n]);
  const inner = answer.storageProof[2]?.proof.at(-1) as string;
  assert.ok(inner.includes(answer.storageProof[3]?.proof.at(-1)?.slice(2) as string), "in one branch");
  const absent = verifyEthProof(state.root, ABSENT, ["0x1"], await state.prove(ABSENT, ["0x1"]));
  assert.deepEqual(absent, {account: undefined, slots: [undefined]});
  const none = await EthState.create(new Map());
  const answer0 = await none.prove(ABSENT, ["0x1"]);
  for (const accountProof of [null, [], ["0x80"]])
    assert.deepEqual(verifyEthProof(none.root, ABSENT, ["0x1"], {...answer0, accountProof}), absent);
});

test("what other nodes write in another way is accepted: of absent accounts, empty tries and keys", async () => {
  const absent = await state.prove(ABSENT, ["0x1"]);
  const [storageHash, codeHash] = [encodeHex(EMPTY_TRIE), encodeHex(NO_CODE_KECCAK)];
  const storageProof = [{key: encodeHex(word(1)), value: "0x0", proof: ["0x80"]}];
  verifyEthProof(state.root, ABSENT, ["0x1"], {...absent, storageHash, codeHash, storageProof});
  const plain = {...(await state.prove(PLAIN, ["0x1"])), storageProof};
  verifyEthProof(state.root, PLAIN, ["0x1"], plain);
  for (const fields of [{storageHash: encodeHex(word(0))}, {codeHash: encodeHex(word(0))}])
    assert.throws(() => verifyEthProof(state.root, PLAIN, ["0x1"], {...plain, ...fields}), ProofError);
});

test("what viem's getProof gives is accepted, and another number is not", async () => {
  const {nonce, balance, storageProof, ...answer} = await state.prove(ADDRESS, KEYS);
  const parsed = {
    ...answer,
    nonce: Number(nonce),
    balance: BigInt(balance),
    storageProof: storageProof.map(({value, ...entry}) => ({...entry, value: BigInt(value)})),
  };
  verifyEthProof(state.root, ADDRESS, KEYS, parsed);
  for (const other of [{nonce: 8}, {nonce: 7.5}, {balance: 0n}, {balance: Number(balance)}])
    assert.throws(() => verifyEthProof(state.root, ADDRESS, KEYS, {...parsed, ...other}), /: expected 0x/);
});

test("a request that is none is refused, and so is a proof of something else", async () => {
  const answer = await state.prove(ADDRESS, KEYS);
  const verify = (address: string, keys: readonly string[], root = state.root) =>
    complaintOf(() => verifyEthProof(root, address, keys, answer));
  assert.match(verify(ADDRESS, KEYS.with(0, "0x")), /^request: expected a storage key/);
  assert.match(verify(ADDRESS, KEYS.with(0, "0x4")), /^storageProof\[0\]\.key: expected 0x4, got "0x3"/);
  assert.match(verify(ADDRESS, KEYS, word(1)), /^accountProof\[0\]: does not hash to the trusted root/);
  assert.match(verify(ADDRESS, KEYS, EMPTY_TRIE), /^accountProof: the trie is empty/);
});

/** What is said of answers in which one place is changed. What no change of an honest answer makes is in trieProof.test. */
const RULES = [
  /^result: expected an object, got null/,
  /^result: the field accountProof is missing/,
  /^address: expected 0x11/,
  /^accountProof: expected an array, got an object/,
  /^accountProof: expected more than 1 node$/,
  /^accountProof\[0\]: does not hash to the trusted root/,
  /^accountProof\[1\]: is not the child/,
  /^accountProof\[2\]: trailing proof nodes/,
  /^accountProof\[0\]: expected 0x and lower-case hex of whole bytes, got "0x[^"]*[A-F]/,
  /^accountProof\[0\]: expected at most 532 bytes/,
  /^nonce: expected 0x7, got/,
  /^balance: expected 0xd3c21bcecceda1000000, got/,
  /^storageHash: expected 0x/,
  /^codeHash: expected 0xc5d2460186/,
  /^storageProof: expected 6 elements, got 5/,
  /^storageProof\[0\]\.key: expected 0x3, got/,
  /^storageProof\[0\]\.value: expected 0xa, got/,
  /^storageProof\[4\]\.value: expected 0x0, got/,
  /^storageProof\[0\]\.proof\[0\]: does not hash to the trusted root/,
  /^storageProof\[4\]\.proof\[1\]: trailing proof nodes/,
];

test("an answer in which any one place is changed is refused, and each rule refuses some", async t => {
  const said: string[] = [];
  for (const [address, keys] of [
    [ADDRESS, KEYS],
    [PLAIN, ["0x1"]],
    [ABSENT, ["0x1"]],
  ] as const) {
    const valid = await state.prove(address, keys);
    for (const {edit, answer} of forgeAnswers(valid, false, ETH_PROOF))
      assert.throws(
        () => verifyEthProof(state.root, address, keys, answer),
        error => error instanceof ProofError && said.push(error.message) > 0,
        JSON.stringify(edit),
      );
  }
  t.diagnostic(`${said.length} forgeries`);
  assert.ok(said.length > 2000, `${said.length} forgeries`);
  assert.deepEqual(
    RULES.filter(rule => !said.some(message => rule.test(message))),
    [],
  );
});
