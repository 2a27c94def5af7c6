import assert from "node:assert/strict";
import {test} from "node:test";
import {listHeaderFields, type NodeHeader, readNodeHeaders} from "../../../../nodes/blocks/nodeHeader.ts";
import type {JsonObject} from "../../../../nodes/rpc/answerValues.ts";
import {type Node, NodeFailure, NodeRefusal} from "../../../../nodes/rpc/node.ts";
import {encodeHeader} from "../../../../storage/block/headerRlp.ts";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {toHex} from "../../../../storage/hex.ts";
import {encodeList} from "../../../../storage/rlp/rlpWriter.ts";

const EMPTY_TRIE = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

/** Block 1 of an anvil 1.7.1 under prague, from eth_getBlockByNumber. */
const PRAGUE = {
  hash: "0x8ad983f27650a328d2cce7967f5a89f56c94c72a52b91f7ea3227705a89cc67d",
  parentHash: "0x116320985d1d6ba6dabcc7d1468e9b01c7c81f34c7d6114fafecf0fd1cb0c9ba",
  sha3Uncles: "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
  miner: "0xc0ffee0000000000000000000000000000000001",
  stateRoot: "0xc7da9665077aa38eafd0bc47445f837ae9dd50c279c791cbeefc157967785ca1",
  transactionsRoot: EMPTY_TRIE,
  receiptsRoot: EMPTY_TRIE,
  logsBloom: `0x${"00".repeat(256)}`,
  difficulty: "0x0",
  number: "0x1",
  gasLimit: "0x1c9c380",
  gasUsed: "0x0",
  timestamp: "0x67748580",
  extraData: "0x",
  mixHash: "0x8a69e94884b9520784b355bd87f49a29ee4c17c59b52f7e16a9bb0f47db2f898",
  nonce: "0x0000000000000000",
  baseFeePerGas: "0x7",
  withdrawalsRoot: EMPTY_TRIE,
  blobGasUsed: "0x0",
  excessBlobGas: "0x0",
  parentBeaconBlockRoot: `0x${"00".repeat(32)}`,
  requestsHash: "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
};

/** Block 1 of Ethereum's main network. */
const FRONTIER = {
  ...PRAGUE,
  ...{baseFeePerGas: undefined, withdrawalsRoot: null, blobGasUsed: undefined, excessBlobGas: undefined},
  ...{parentBeaconBlockRoot: undefined, requestsHash: undefined},
  hash: "0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6",
  parentHash: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
  miner: "0x05a56e2d52c817161883f50c441c3228cfe54d9f",
  stateRoot: "0xd67e4d450343046425ae4271474353857ab860dbc0a1dde64b41b5cd3a532bf3",
  difficulty: "0x3ff800000",
  gasLimit: "0x1388",
  timestamp: "0x55ba4224",
  extraData: "0x476574682f76312e302e302f6c696e75782f676f312e342e32",
  mixHash: "0x969b900de27b6ac6a67742365dd65f55a0526c41fd18e1b16f1a1215c2e66f59",
  nonce: "0x539bd4979fef1ec4",
};

/** A node that has these bytes as the header of any block. undefined: it knows no debug_getRawHeader. */
function nodeOf(rlp?: Uint8Array | string): Node {
  return {
    name: "http://node",
    request: () => assert.fail("not asked for"),
    async requestAll(calls) {
      assert.deepEqual(calls, [{method: "debug_getRawHeader", params: ["0x1"]}]);
      if (rlp === undefined)
        throw new NodeRefusal("it refuses debug_getRawHeader: the method is not known", -32601);
      return [typeof rlp === "string" ? rlp : toHex(rlp)];
    },
  };
}

async function read(block: JsonObject, rlp?: Uint8Array | string): Promise<NodeHeader> {
  const [header] = await readNodeHeaders(nodeOf(rlp), [block], 1);
  return header as NodeHeader;
}

async function refused(block: JsonObject, message: RegExp, rlp?: Uint8Array | string): Promise<void> {
  await assert.rejects(read(block, rlp), error => {
    assert.ok(error instanceof NodeFailure, String(error));
    assert.match(error.message, message);
    return true;
  });
}

test("the hash of a header is that of its fields, under the newest forks and the oldest", async () => {
  const header = await read(PRAGUE);
  assert.equal(toHex(header.hash), PRAGUE.hash);
  assert.equal(header.baseFeePerGas, 7n);
  assert.equal(header.difficulty, 0n);
  assert.equal(toHex(header.stateRoot), PRAGUE.stateRoot);
  const oldest = await read(FRONTIER);
  assert.equal(toHex(oldest.hash), FRONTIER.hash);
  assert.equal(oldest.baseFeePerGas, undefined);
  assert.equal(toHex(oldest.extraData), FRONTIER.extraData);
});

test("a header with another value in any field is refused, or with none", async () => {
  for (const field of Object.keys(PRAGUE)) {
    const value = PRAGUE[field as keyof typeof PRAGUE];
    const other = field === "extraData" ? "0x00" : value.replace(/.$/, digit => (digit === "1" ? "2" : "1"));
    await refused({...PRAGUE, [field]: other}, /block/);
    // A zero before other later fields is encoded as if it were missing.
    if (field !== "blobGasUsed" && field !== "excessBlobGas")
      await refused({...PRAGUE, [field]: undefined}, /block/);
  }
});

/** The block with more items at the end of its header: a number, a list, and bytes. */
const MORE = [Uint8Array.of(9), [Uint8Array.of(1), new Uint8Array(40)], new Uint8Array(70)];
const FOREIGN_RLP = encodeList([...listHeaderFields(PRAGUE, "block 1"), ...MORE]);
const FOREIGN = {...PRAGUE, hash: toHex(keccak256(FOREIGN_RLP)), l1BlockNumber: "0x9", sendCount: "0x1"};

test("a header with more items than Ethereum's is the one whose bytes have the hash", async () => {
  const header = await read(FOREIGN, FOREIGN_RLP);
  assert.equal(toHex(header.hash), FOREIGN.hash);
  assert.equal(toHex(header.stateRoot), PRAGUE.stateRoot);
  assert.equal(header.excessBlobGas, 0n);
  assert.deepEqual(encodeHeader(header), FOREIGN_RLP);
});

test("of blocks whose headers have other forms only those are asked for", async () => {
  const next = {...PRAGUE, number: "0x2"};
  const blocks = [FOREIGN, {...next, hash: toHex(keccak256(encodeList(listHeaderFields(next, "block 2"))))}];
  const [one, two] = await readNodeHeaders(nodeOf(FOREIGN_RLP), blocks, 1);
  assert.deepEqual([toHex(one?.hash as Uint8Array), two?.number], [FOREIGN.hash, 2]);
});

test("a header of another form is refused by the name of what is wrong", async () => {
  await refused(
    FOREIGN,
    /^block 1: the node says .* has the hash 0x8ad9\w+. A header of another form needs --source trace and debug_getRawHeader: it refuses/,
  );
  await refused(
    FOREIGN,
    /but debug_getRawHeader has the header of 0x8ad9/,
    encodeList(listHeaderFields(PRAGUE, "")),
  );
  await refused(FOREIGN, /block 1: debug_getRawHeader: expected at most 131070 bytes/, "0xabc");
  await refused(FOREIGN, /a header of an unknown form: expected a list, got bytes/, Uint8Array.of(1));
  const spoil = (field: string, told: string, message: RegExp) =>
    refused({...FOREIGN, [field]: told}, message, FOREIGN_RLP);
  await spoil("gasUsed", "0x5", /^block 1: gasUsed: the raw header has 0, but the node says 5$/);
  await spoil(
    "stateRoot",
    EMPTY_TRIE,
    /^block 1: stateRoot: the raw header has 0xc7da\w+, but the node says 0x56e8/,
  );
  await spoil("baseFeePerGas", "0x8", /^block 1: baseFeePerGas: the raw header has 7, but the node says 8$/);
  await spoil("number", "0x2", /^expected block 1, got block 2$/);
  // An item where Ethereum has the base fee: of another kind, or a number that is none.
  const fields = listHeaderFields(FRONTIER, "");
  const mixed = (item: Uint8Array): [JsonObject, Uint8Array] => {
    const rlp = encodeList([...fields, item]);
    return [{...FRONTIER, hash: toHex(keccak256(rlp))}, rlp];
  };
  const [long, longRlp] = mixed(new Uint8Array(65).fill(7));
  await refused(long, /unknown form: baseFeePerGas: expected a number of at most 32 bytes, got 65$/, longRlp);
  const [short, shortRlp] = mixed(Uint8Array.of(7));
  await refused(short, /baseFeePerGas: the raw header has 7, but the node says 0$/, shortRlp);
});
