import assert from "node:assert/strict";
import {test} from "node:test";
import {parseNodeHeader} from "../../../../nodes/blocks/nodeHeader.ts";
import {NodeFailure} from "../../../../nodes/rpc/node.ts";
import {toHex} from "../../../../storage/hex.ts";

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

test("the hash of a header is that of its fields, under the newest forks and the oldest", () => {
  const header = parseNodeHeader(PRAGUE, 1);
  assert.equal(toHex(header.hash), PRAGUE.hash);
  assert.equal(header.baseFeePerGas, 7n);
  assert.equal(header.difficulty, 0n);
  assert.equal(toHex(header.stateRoot), PRAGUE.stateRoot);
  const oldest = parseNodeHeader(FRONTIER, 1);
  assert.equal(toHex(oldest.hash), FRONTIER.hash);
  assert.equal(oldest.baseFeePerGas, undefined);
  assert.equal(toHex(oldest.extraData ?? new Uint8Array(0)), FRONTIER.extraData);
});

test("a header with another value in any field is refused", () => {
  for (const field of Object.keys(PRAGUE)) {
    const value = PRAGUE[field as keyof typeof PRAGUE];
    const other = field === "extraData" ? "0x00" : value.replace(/.$/, digit => (digit === "1" ? "2" : "1"));
    assert.throws(() => parseNodeHeader({...PRAGUE, [field]: other}, 1), NodeFailure, field);
  }
});

test("a header without one of its fields is refused", () => {
  for (const field of Object.keys(PRAGUE)) {
    // A zero before other later fields is encoded as if it were missing.
    if (field === "blobGasUsed" || field === "excessBlobGas") continue;
    assert.throws(() => parseNodeHeader({...PRAGUE, [field]: undefined}, 1), NodeFailure, field);
  }
});
