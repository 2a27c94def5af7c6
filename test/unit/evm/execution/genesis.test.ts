/**
 * geth's genesis file: what is taken, what is refused and by which name.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createChainRules} from "../../../../evm/execution/chainRules.ts";
import {ForkSchedule} from "../../../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../../../evm/execution/forks.ts";
import {parseGenesis} from "../../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../../evm/execution/genesisBlock.ts";
import {toHex} from "../../../../storage/hex.ts";
import {HARDFORKS} from "../../../../workers/messages/estimateSettings.ts";

const ADDRESS = "00000000000000000000000000000000000000aa";
const BY_NUMBER = {
  homesteadBlock: 0,
  eip150Block: 0,
  eip155Block: 0,
  eip158Block: 0,
  byzantiumBlock: 0,
  constantinopleBlock: 0,
  istanbulBlock: 0,
  berlinBlock: 0,
  londonBlock: 0,
};

function genesis(fields: object = {}, config: object = {}): string {
  return JSON.stringify({
    config: {chainId: 7, ...BY_NUMBER, ...config},
    alloc: {},
    gasLimit: "0x1c9c380",
    difficulty: "0x0",
    ...fields,
  });
}

test("quantities are hex or decimal, addresses with or without 0x, slots of any length up to 32 bytes", () => {
  const {accounts} = parseGenesis(
    genesis({
      alloc: {
        [ADDRESS]: {balance: "0x10", nonce: "3", code: "0x6000", storage: {"0x1": "0xff", "02": "0x00"}},
        [`0x${ADDRESS.replaceAll("a", "b")}`]: {balance: "1000000000000000000000"},
        [`0X${ADDRESS.replaceAll("a", "C")}`]: {balance: 5},
      },
    }),
  );
  const [first, second, third] = accounts;
  assert.equal(first?.balance, 16n);
  assert.equal(first?.nonce, 3n);
  assert.deepEqual(
    first?.storage.map(({slot, value}) => [slot.at(-1), value.at(-1)]),
    [[1, 255]],
  );
  assert.equal(second?.balance, 10n ** 21n);
  assert.equal(third?.balance, 5n);
});

for (const [field, message, fields, config] of [
  ["no alloc", /^genesis: alloc is missing$/, {alloc: undefined}, {}],
  ["no gas limit", /^genesis: gasLimit is missing$/, {gasLimit: undefined}, {}],
  [
    "a balance that is no quantity",
    /alloc\.00+aa\.balance: expected a quantity, hex with 0x or decimal, got "1e3"$/,
    {alloc: {[ADDRESS]: {balance: "1e3"}}},
    {},
  ],
  [
    "a balance of 257 bits",
    /balance: expected a number below 2\^256, got "0x10/,
    {alloc: {[ADDRESS]: {balance: `0x1${"0".repeat(64)}`}}},
    {},
  ],
  [
    "a balance that JSON numbers cannot hold",
    /expected a whole number, from 2\^53 on written as text, got 1000/,
    {alloc: {[ADDRESS]: {balance: 1e20}}},
    {},
  ],
  ["no balance", /balance is missing/, {alloc: {[ADDRESS]: {}}}, {}],
  [
    "a short address",
    /alloc\.0xaa: expected an address of 20 bytes, got "0xaa"/,
    {alloc: {"0xaa": {balance: "0"}}},
    {},
  ],
  [
    "an address twice",
    /is there twice/,
    {alloc: {[ADDRESS]: {balance: "0"}, [`0x${ADDRESS}`]: {balance: "0"}}},
    {},
  ],
  [
    "code without 0x",
    /code: expected hex bytes with 0x, got "6000"/,
    {alloc: {[ADDRESS]: {balance: "0", code: "6000"}}},
    {},
  ],
  [
    "a slot of 33 bytes",
    /expected hex of up to 32 bytes, got "0x11/,
    {alloc: {[ADDRESS]: {balance: "0", storage: {[`0x${"1".repeat(66)}`]: "0x1"}}}},
    {},
  ],
  ["a genesis that is not block 0", /number must be 0/, {number: "0x1"}, {}],
  ["an unknown fork", /config\.amsterdamTime is a hard fork that is not supported/, {}, {amsterdamTime: 5}],
  [
    "a fork before its predecessor",
    /config\.berlinBlock is 3, before istanbul at 4/,
    {},
    {istanbulBlock: 4, berlinBlock: 3},
  ],
  [
    "a fork without its predecessor",
    /config\.pragueTime is set, but cancunTime, which comes before, is not/,
    {},
    {shanghaiTime: 0, pragueTime: 0},
  ],
  [
    "a blob fork without counts",
    /config\.blobSchedule\.bpo1 is missing/,
    {},
    {shanghaiTime: 0, cancunTime: 0, pragueTime: 0, osakaTime: 0, bpo1Time: 9},
  ],
  ["a consensus with rules of its own", /config\.qbft is a consensus/, {}, {qbft: {}}],
  ["no chain id", /config\.chainId is missing/, {}, {chainId: undefined}],
] as const)
  test(`a genesis with ${field} is refused by name`, () => {
    assert.throws(() => parseGenesis(genesis(fields, config)), {code: "GENESIS_INVALID", message});
  });

test("a genesis that is not JSON is refused", () => {
  assert.throws(() => parseGenesis("{"), {
    code: "GENESIS_INVALID",
    message: /^genesis: the file is not JSON/,
  });
});

test("petersburg comes with constantinople where the config does not say, and an opposed DAO fork does not come", () => {
  const {forks} = parseGenesis(
    genesis(
      {},
      {
        daoForkBlock: 2,
        daoForkSupport: false,
        constantinopleBlock: 3,
        istanbulBlock: 5,
        berlinBlock: 9,
        londonBlock: 9,
      },
    ),
  );
  assert.equal(forks.forkAt({number: 2, timestamp: 0n, difficulty: 1n}), "byzantium");
  assert.equal(forks.forkAt({number: 4, timestamp: 0n, difficulty: 1n}), "petersburg");
});

test("a block's difficulty says whether forks by time apply", () => {
  const {forks} = parseGenesis(genesis({}, {shanghaiTime: 100, cancunTime: 200}));
  assert.equal(forks.forkAt({number: 1, timestamp: 50n, difficulty: 2n}), "london");
  assert.equal(forks.forkAt({number: 1, timestamp: 50n, difficulty: 0n}), "paris");
  assert.equal(forks.forkAt({number: 1, timestamp: 200n, difficulty: 0n}), "cancun");
  assert.throws(
    () => forks.forkAt({number: 1, timestamp: 100n, difficulty: 2n}),
    /has difficulty 2, but shanghai forbids one/,
  );
});

test("the block 0 of Ethereum's mainnet rules without accounts has the empty state's root", async () => {
  const {head, difference} = await makeGenesisBlock(parseGenesis(genesis()), new Map());
  assert.equal(toHex(head.stateRoot), "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");
  assert.equal(head.baseFeePerGas, 1_000_000_000n);
  assert.equal(difference.accounts.count, 0);
});

test("every hard fork that can be named makes a config that has it, and none after it, from block 0 on", () => {
  for (const fork of HARDFORKS) {
    const forks = new ForkSchedule({...configOfFork(fork), chainId: 1});
    for (const other of HARDFORKS.filter(name => name !== "paris"))
      assert.equal(
        forks.isActive(other, {number: 0, timestamp: 0n}),
        HARDFORKS.indexOf(other) <= HARDFORKS.indexOf(fork),
        `${other} under ${fork}`,
      );
    const common = createChainRules(forks);
    common.setHardfork(fork);
    assert.equal(common.hardfork(), fork);
  }
});

test("a held block with a difficulty is of a fork by number, one without of the newest that its time allows", () => {
  const forks = new ForkSchedule({...configOfFork("london"), chainId: 1, shanghaiTime: 100});
  assert.equal(forks.forkOfHeld({number: 1, timestamp: 50n, difficulty: 2n}), "london");
  assert.equal(forks.forkOfHeld({number: 1, timestamp: 50n}), "paris");
  assert.equal(forks.forkOfHeld({number: 1, timestamp: 100n}), "shanghai");
  assert.equal(forks.forkOfHeld({number: 0, timestamp: 100n, difficulty: 2n}), "shanghai");
});
