/** The contract of docs/bridging.md that reads a slot from a block's hash, by @openzeppelin/contracts, on anvil. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {after, before, test} from "node:test";
import {type Input, RLP} from "@ethereumjs/rlp";
import {keccak_256} from "@noble/hashes/sha3.js";
import * as AbiFunction from "ox/AbiFunction";
import {concatBytes} from "../../../client/bytes/byteString.ts";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {verifyHeader} from "../../../client/trie/blockHeader.ts";
import {verifyEthProof} from "../../../client/trie/ethProof.ts";
import {checkHeader} from "../../../nodes/blocks/nodeHeader.ts";
import {encodeList} from "../../../storage/rlp/rlpWriter.ts";
import {DeployedContract} from "../../support/contracts/deployedContract.ts";
import {sendTransaction} from "../../support/contracts/transactions.ts";
import {readDocument} from "../../support/documents/printedBlocks.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {type EthAnswer, joinNodes, NEAR_SLOTS} from "../../support/reference/ethState.ts";
import {readFixture} from "../../support/reference/fixtures.ts";

const SLOT_OF = AbiFunction.from(
  "function slotOf(bytes32 blockHash, bytes header, address account, bytes32 slot, bytes[] accountProof, bytes[] storageProof) returns (uint256)",
);
const ACCOUNT = `0x${"11".repeat(20)}`;
const NEAR = NEAR_SLOTS.map(slot => encodeHex(word(slot)));

let anvil: Anvil | string;
let contract: string;
before(async () => {
  anvil = await Anvil.start(["--hardfork", "osaka"]);
  if (typeof anvil === "string") return;
  const {bytecode} = readFixture<{contract: {bytecode: string}}>("own/slotOfBlock").contract;
  contract = (await sendTransaction(anvil, {data: `0x${bytecode}`})).contractAddress as string;
});
after(async () => {
  if (typeof anvil !== "string") await anvil.stop();
});

interface Question {
  readonly blockHash: Uint8Array;
  readonly header: Uint8Array;
  readonly slot: string;
  readonly accountProof: readonly string[];
  readonly storageProof: readonly string[];
}

function encode({blockHash, header, slot, accountProof, storageProof}: Question): string {
  const args = [encodeHex(blockHash), encodeHex(header), ACCOUNT, slot, accountProof, storageProof];
  return AbiFunction.encodeData(SLOT_OF, args as never);
}

test("a slot of anvil's own chain is read from the hash of its block, and nothing else passes", async t => {
  if (typeof anvil === "string") return notRun(t, anvil);
  const node = anvil;
  await node.request("anvil_setBalance", ACCOUNT, "0x5");
  for (const slot of NEAR) await node.request("anvil_setStorageAt", ACCOUNT, slot, encodeHex(word(9)));
  await node.request("evm_mine");
  const block = await node.request<Record<string, unknown>>("eth_getBlockByNumber", "latest", false);
  const header = encodeList(checkHeader(block, Number(block.number)));
  const hash = decodeHex(block.hash as string);
  const [slot = "", absent = ""] = [NEAR[0], encodeHex(word(1))];
  const answer = await node.request<EthAnswer>("eth_getProof", ACCOUNT, [slot, absent], block.number);
  const {stateRoot} = verifyHeader(hash, header);
  assert.deepEqual(verifyEthProof(stateRoot, ACCOUNT, [slot, absent], answer).slots, [9n, undefined]);

  const [present, missing] = answer.storageProof.map(({proof}) => proof) as [string[], string[]];
  const valid: Question = {blockHash: hash, header, slot, ...answer, storageProof: present};
  const ask = (question: Question) =>
    node.ask("eth_call", [{to: contract, data: encode(question)}, "latest"]);
  assert.equal((await ask(valid)).result, encodeHex(word(9)));
  const changed = (text: string) => text.replace(/.$/, last => (last === "0" ? "1" : "0"));
  const others: readonly Partial<Question>[] = [
    {blockHash: word(1)},
    {header: header.with(100, (header[100] as number) ^ 1)},
    {slot: NEAR[1] as string},
    {slot: absent, storageProof: missing},
    {storageProof: present.slice(0, 1)},
    {storageProof: present.with(0, changed(present[0] as string))},
    {accountProof: answer.accountProof.map(changed)},
  ];
  for (const other of others) {
    const {error, result} = await ask({...valid, ...other});
    assert.ok(error !== undefined, `${Object.keys(other)}: ${result}`);
  }
});

/** A hash for each child that the path does not enter. */
function fakeHash(seed: string): Uint8Array {
  return createHash("sha256").update(seed).digest();
}

/** @param widths - children of each branch from the root down; the first ones, and that of the path */
function proveAlone(key: Uint8Array, value: Uint8Array, widths: readonly number[]): Uint8Array[] {
  const path = encodeHex(keccak_256(key)).slice(2);
  const rest = path.slice(widths.length);
  const way = decodeHex(rest.length % 2 === 0 ? `0x20${rest}` : `0x3${rest}`);
  let nodes = [RLP.encode([way, value])];
  for (let depth = widths.length - 1; depth >= 0; depth--) {
    const children: Input[] = Array.from({length: 17}, (_, i) =>
      i < Math.min(16, widths[depth] as number) ? fakeHash(`${depth} ${i}`) : new Uint8Array(),
    );
    children[Number.parseInt(path.charAt(depth), 16)] = keccak_256(nodes[0] as Uint8Array);
    nodes = [RLP.encode(children), ...nodes];
  }
  return nodes;
}

test("its gas and the length of its proof are those that the page prints", async t => {
  if (typeof anvil === "string") return notRun(t, anvil);
  // A million accounts fill five branches of a path, most often with one more below; 1 000 slots fill two.
  const slot = encodeHex(word(7));
  const storage = proveAlone(word(7), RLP.encode(fakeHash("value")), [16, 16, 3]);
  const fields = [3n, 10n ** 18n, keccak_256(storage[0] as Uint8Array), fakeHash("code")];
  const state = proveAlone(decodeHex(ACCOUNT), RLP.encode(fields), [16, 16, 16, 16, 16, 2]);
  const published = decodeHex(readFixture<{header: string}>("published/ethProof").header);
  const header = concatBytes(
    published.subarray(0, 91),
    keccak_256(state[0] as Uint8Array),
    published.subarray(123),
  );
  const question = {
    ...{blockHash: keccak_256(header), header, slot},
    ...{accountProof: state.map(encodeHex), storageProof: storage.map(encodeHex)},
  };
  const {gasUsed} = await sendTransaction(anvil, {to: contract, data: encode(question)});
  const nodes = [...state, ...storage];
  const bytes = header.length + nodes.reduce((sum, {length}) => sum + length, 0);
  const verifier = await DeployedContract.create(anvil, "KeccakProofVerifier");
  const proof = joinNodes(nodes.map(encodeHex));
  const root = encodeHex(keccak_256(state[0] as Uint8Array));
  const own = await verifier.send("verifySlots", root, ACCOUNT, [slot], encodeHex(proof));
  const spaced = (n: number) => String(n).replace(/\B(?=(\d{3})+$)/g, " ");
  const printed =
    /A slot takes ([\d ]+) gas and\s([\d ]+) bytes; with `\w+`,\swithout the header, ([\d ]+) gas and\s([\d ]+) bytes/.exec(
      readDocument("docs/bridging.md"),
    );
  const figures = [gasUsed, bytes, own.gasUsed, proof.length];
  assert.deepEqual(
    printed?.slice(1),
    figures.map(figure => spaced(Number(figure))),
  );
});
