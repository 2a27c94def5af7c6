/** geth's genesis file: what is taken, what is refused and by which name. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {BlockHead} from "../../../../evm/execution/blockHead.ts";
import {ForkSchedule} from "../../../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../../../evm/execution/forks.ts";
import type {Genesis} from "../../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../../evm/execution/genesisBlock.ts";
import {checkParent} from "../../../../evm/execution/parentCheck.ts";
import {toHex} from "../../../../storage/hex.ts";
import {MemoryTries} from "../../../../storage/trie/memoryTries.ts";
import {HARDFORKS} from "../../../../workers/messages/estimateSettings.ts";
import {createFullRules} from "../../../support/evm/fullRules.ts";
import {listAccounts, parseGenesis} from "../../../support/evm/genesisText.ts";

const ADDRESS = "00000000000000000000000000000000000000aa";
/** Of block 0 of WHOLE, as geth v1.17.10 makes it in these three spellings of its names. */
const GETH_HASH = "0xe347192f1ca8fed9322e90f60dacae4d848c5682a7fa9dc00ad71d7a7bcc1f3f";
const WORD = `0x${"0a".repeat(32)}`;
const BY_NUMBER = Object.fromEntries(
  "homestead eip150 eip155 eip158 byzantium constantinople istanbul berlin london"
    .split(" ")
    .map(name => [`${name}Block`, 0]),
);

/** A bigint becomes a number of JSON. */
function genesis(fields: object = {}, config: object = {}): string {
  const file = {
    config: {chainId: 7, ...BY_NUMBER, ...config},
    alloc: {},
    gasLimit: "0x1c9c380",
    difficulty: "0x0",
    ...fields,
  };
  const text = JSON.stringify(file, (_, value) => (typeof value === "bigint" ? `bigint ${value}` : value));
  return text.replace(/"bigint (\d+)"/g, "$1");
}

test("quantities are hex or decimal, addresses with or without 0x, slots of any length up to 32 bytes", () => {
  const parsed = parseGenesis(
    genesis({
      alloc: {
        [ADDRESS]: {balance: "0x10", nonce: "3", code: "0x6000", storage: {"0x1": "0xff", "02": "0x00"}},
        [`0x${ADDRESS.replaceAll("a", "b")}`]: {balance: "1000000000000000000000"},
        [`0X${ADDRESS.replaceAll("a", "C")}`]: {balance: 5},
      },
    }),
  );
  const [first, second, third] = listAccounts(parsed);
  assert.equal(first?.balance, 16n);
  assert.equal(first?.nonce, 3n);
  assert.deepEqual(
    first?.storage.map(({slot, value}) => [slot.at(-1), value.at(-1)]),
    [[1, 255]],
  );
  assert.equal(second?.balance, 10n ** 21n);
  assert.equal(third?.balance, 5n);
});

const held = (account: object) => ({alloc: {[ADDRESS]: account}});

const REFUSED: readonly (readonly [what: string, message: RegExp, fields: object, config?: object])[] = [
  ["no alloc", /^genesis: alloc is missing$/, {alloc: undefined}],
  ["no gas limit", /^genesis: gasLimit is missing$/, {gasLimit: undefined}],
  [
    "a balance that is no quantity",
    /alloc\.00+aa\.balance: expected a quantity, hex with 0x or decimal, got "1e3"$/,
    held({balance: "1e3"}),
  ],
  [
    "a balance of 0x without digits",
    /balance: expected a quantity, hex with 0x or decimal, got "0x"$/,
    held({balance: "0x"}),
  ],
  [
    "a balance of 257 bits",
    /balance: expected a number below 2\^256, got "0x10/,
    held({balance: `0x1${"0".repeat(64)}`}),
  ],
  [
    "a balance with an exponent",
    /balance: expected a whole number in digits, got 1e\+21$/,
    held({balance: 1e21}),
  ],
  ["no balance", /balance is missing/, held({})],
  [
    "a short address",
    /alloc\.0xaa: expected an address of 20 bytes, got "0xaa"/,
    {alloc: {"0xaa": {balance: "0"}}},
  ],
  ["code without 0x", /code: expected hex bytes with 0x, got "6000"/, held({balance: "0", code: "6000"})],
  [
    "a slot of 33 bytes",
    /expected hex of up to 32 bytes, got "0x11/,
    held({balance: "0", storage: {[`0x${"1".repeat(66)}`]: "0x1"}}),
  ],
  ["a genesis that is not block 0", /number must be 0/, {number: "0x1"}],
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
  ...["arbitrum", "scroll", "congress", "aura", "celo", "optimism", "qbft", "istanbul"].map(
    name =>
      [
        `the rules of ${name}`,
        new RegExp(`config\\.${name} is not supported.* --source trace`),
        {},
        {[name]: {}},
      ] as const,
  ),
  ["taiko switched on", /config\.taiko is not supported/, {}, {taiko: true}],
  ["no base fee (Besu)", /config\.zeroBaseFee is not supported/, {}, {zeroBaseFee: true}],
  ["larger contracts (Besu)", /config\.contractSizeLimit is not supported/, {}, {contractSizeLimit: 2 ** 31}],
  ["a deeper stack (Besu)", /config\.evmStackSize is not supported/, {}, {evmStackSize: 2048}],
  [
    "excess blob gas before cancun",
    /^genesis: excessBlobGas is set, but/,
    {excessBlobGas: "0x0"},
    {shanghaiTime: 0},
  ],
  ["a chain id of 2^53", /config\.chainId: expected a number below 2\^53, got 90/, {}, {chainId: 2 ** 53}],
  ["no chain id", /config\.chainId is missing/, {}, {chainId: undefined}],
  [
    "a name that nobody knows",
    /^genesis: gaslimits is not known: expected config, nonce, .*, alloc, /,
    {gaslimits: "0x1"},
  ],
  [
    "an account with a name that nobody knows",
    /alloc\.00+aa\.blance is not known: expected balance, nonce, code, storage/,
    held({balance: "0", blance: "1"}),
  ],
  [
    "one name in two spellings",
    /^genesis: mixhash: expected mixHash once, got it again with another value$/,
    {mixHash: WORD, mixhash: WORD.replace("a", "b")},
  ],
  ["a fork of no chain", /config\.shanghaiTimestamp is a hard fork that is not/, {}, {shanghaiTimestamp: 0}],
  ["a fork without Block", /config\.London is a hard fork that is not supported/, {}, {London: 0}],
  ["a frontier that is not block 0", /config\.frontierBlock must be 0/, {}, {frontierBlock: 1}],
  [
    "both names of petersburg",
    /config\.constantinopleFixBlock: expected petersburgBlock once/,
    {},
    {petersburgBlock: 0, constantinopleFixBlock: 1},
  ],
  ["a consensus in another case", /config\.QBFT is not supported/, {}, {QBFT: {}}],
  [
    "a slot that is a large number",
    /storage\.0x1: expected hex of up to 32 bytes, got 12345678901234567/,
    held({balance: "0", storage: {"0x1": 12345678901234567n}}),
  ],
];

for (const [what, message, fields, config] of REFUSED)
  test(`a genesis with ${what} is refused by name`, () => {
    assert.throws(() => parseGenesis(genesis(fields, config)), {code: "GENESIS_INVALID", message});
  });

/** Names of geth's file, of its config and of accounts, each with a value that matters. */
const WHOLE = {
  nonce: "0x42",
  timestamp: "0x3",
  extraData: `0x${"00".repeat(32)}${ADDRESS}${"00".repeat(65)}`,
  mixHash: WORD,
  coinbase: `0x${ADDRESS}`,
  number: "0x0",
  gasUsed: "0x5",
  parentHash: WORD.replace("a", "b"),
  baseFeePerGas: "0x7",
  excessBlobGas: "0x8",
  blobGasUsed: "0x9",
  alloc: {[ADDRESS]: {balance: "0x1", nonce: "0x2", code: "0x60", storage: {"0x01": "0x02"}}},
};
const WHOLE_CONFIG = {
  shanghaiTime: 0,
  cancunTime: 0,
  pragueTime: 100,
  bpo1Time: 300,
  osakaTime: 200,
  clique: {period: 3, epoch: 4},
  depositContractAddress: `0x${ADDRESS}`,
  blobSchedule: {bpo1: {target: 1, max: 2, baseFeeUpdateFraction: 3}},
};

function respell(value: unknown, spell: (name: string) => string): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      /^0/.test(name) ? name : spell(name),
      respell(member, spell),
    ]),
  );
}

/** Configs keep their spelling. */
function withoutConfig(genesis: Genesis): object {
  const forks = {...genesis.forks, config: undefined};
  return {...genesis, forks, config: undefined, accounts: listAccounts(genesis)};
}

test("names are read without case, as geth does", async () => {
  const text = genesis(WHOLE, WHOLE_CONFIG);
  const plain = parseGenesis(text);
  const {head} = await makeGenesisBlock(plain, new MemoryTries());
  assert.equal(toHex(head.hash), GETH_HASH);
  for (const spell of [
    (name: string) => name.toLowerCase(),
    (name: string) => name.toUpperCase(),
    (name: string) => name.replace(/^./, first => first.toUpperCase()),
  ]) {
    const other = parseGenesis(JSON.stringify(respell(JSON.parse(text), spell)));
    const kept = new ForkSchedule(JSON.parse(String(other.config)));
    for (const forks of [other.forks, kept])
      assert.deepEqual(withoutConfig({...other, forks}), withoutConfig(plain));
    assert.deepEqual(createFullRules(kept).consensusConfig(), {period: 3, epoch: 4});
  }
});

test("fields of a later fork give geth's block 0", async () => {
  for (const [fields, config, hash] of [
    // As geth v1.17.10 makes them. It keeps a base fee before london, and drops the others before their forks.
    [
      {baseFeePerGas: "0x7"},
      {londonBlock: 5},
      "0x5d3cffd449afeed2edbbaa6423588c1df2545ebce56bb92a494f9ae0495fa345",
    ],
    [{blobGasUsed: "0x7"}, {}, "0x1a33392c3b77b01d6046d9bcb42638cf69cced478254e6b80107860b6f8fe1d9"],
    [{slotNumber: "0x7"}, {}, "0x1a33392c3b77b01d6046d9bcb42638cf69cced478254e6b80107860b6f8fe1d9"],
  ] as const) {
    const {head} = await makeGenesisBlock(parseGenesis(genesis(fields, config)), new MemoryTries());
    assert.equal(toHex(head.hash), hash);
  }
});

test("a base fee of block 0 does not count before london", () => {
  const {forks} = parseGenesis(genesis({}, {londonBlock: 1}));
  const parent = {
    number: 0,
    hash: new Uint8Array(32),
    timestamp: 0n,
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    baseFeePerGas: 7n,
  };
  const head = {
    ...parent,
    number: 1,
    gasLimit: 60_000_000n,
    baseFeePerGas: 1_000_000_000n,
  } as unknown as BlockHead;
  checkParent(head, parent, forks, "london");
});

test("forks and rules that are not supported are no obstacle where nothing is executed", () => {
  const config = {bogotaTime: 0, optimism: {}, taiko: true, contractSizeLimit: 2 ** 31};
  const text = genesis({}, config);
  assert.throws(
    () => parseGenesis(text),
    /config\.bogotaTime is a hard fork that is not supported .* --source trace/,
  );
  const {config: kept, chainId} = parseGenesis(text, false);
  assert.deepEqual([chainId, JSON.parse(String(kept)).bogotaTime], [7n, 0]);
  assert.throws(() => new ForkSchedule(JSON.parse(String(kept))), {code: "GENESIS_INVALID"});
});

test("a file without config, as those of the OP stack's registry, is taken where nothing is executed and the chain is named", () => {
  // The fields of later forks do not matter then.
  const text = JSON.stringify({...JSON.parse(genesis()), config: null, excessBlobGas: "0x0"});
  assert.throws(() => parseGenesis(text, true, 7n), /genesis: config is missing$/);
  assert.throws(() => parseGenesis(text, false), /genesis: config is missing: name the chain by --chain-id$/);
  const parsed = parseGenesis(text, false, 7n);
  const {config, chainId} = parsed;
  assert.deepEqual([config, chainId], [undefined, 7n]);
  assert.deepEqual(listAccounts(parsed), []);
});

test("members of a config that say nothing about execution are taken", () => {
  const notes = {
    ethash: {},
    discovery: {},
    terminalTotalDifficultyPassed: true,
    zeroBaseFee: false,
    aura: null,
  };
  parseGenesis(genesis({}, {...notes, contractSizeLimit: 24_576, evmStackSize: "0x400"}));
});

test("null is left out, and notes that say nothing about the chain are taken", () => {
  const notes = {comment: "x", privateKey: "8f", secretKey: "0x8f"};
  const nulls = Object.fromEntries(Object.keys(WHOLE).map(name => [name, null]));
  const alloc = {[ADDRESS]: {balance: "1", nonce: null, code: null, storage: null, ...notes}};
  const taken = parseGenesis(genesis({...nulls, alloc, comment: "x"}, {cancunTime: null, note: 1}));
  const expected = parseGenesis(genesis({alloc: {[ADDRESS]: {balance: "1"}}}));
  assert.deepEqual(withoutConfig(taken), withoutConfig(expected));
});

test("Besu's names of forks are taken", () => {
  const names = {preMergeForkBlock: 5, mergeNetSplitBlock: 5, parisBlock: 5, frontierBlock: 0};
  const {forks} = parseGenesis(
    genesis(
      {},
      {
        ...names,
        constantinopleBlock: 2,
        constantinopleFixBlock: 3,
        istanbulBlock: 9,
        berlinBlock: 9,
        londonBlock: 9,
      },
    ),
  );
  assert.equal(forks.forkAt({number: 2, timestamp: 0n, difficulty: 1n}), "constantinople");
  assert.equal(forks.forkAt({number: 3, timestamp: 0n, difficulty: 1n}), "petersburg");
});

test("numbers from 2^53 on are read exactly", () => {
  const exact = 2n ** 53n + 1n;
  const alloc = {
    [ADDRESS]: {balance: 2n ** 256n - 1n, nonce: 2n ** 64n - 1n, comment: ": 12345678901234567"},
  };
  const parsed = parseGenesis(
    genesis(
      {alloc, gasLimit: exact, timestamp: exact},
      {londonBlock: 2n ** 64n - 1n, terminalTotalDifficulty: 58750000000000000000000n},
    ),
  );
  const {gasLimit, timestamp, forks, config} = parsed;
  const [account] = listAccounts(parsed);
  assert.deepEqual([account?.balance, account?.nonce], [2n ** 256n - 1n, 2n ** 64n - 1n]);
  assert.deepEqual([gasLimit, timestamp], [exact, exact]);
  assert.equal(forks.forkAt({number: 2 ** 52, timestamp: 0n, difficulty: 1n}), "berlin");
  const kept = new ForkSchedule(JSON.parse(String(config)));
  assert.deepEqual(kept.byNumber, forks.byNumber);
  assert.equal(JSON.parse(String(config)).terminalTotalDifficulty, "58750000000000000000000");
  const common = createFullRules(kept);
  assert.equal(common.hardforkBlock("london"), 2n ** 64n);
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

test("every hard fork that can be named makes a config that has it, and none after it, from block 0 on", () => {
  for (const fork of HARDFORKS) {
    const forks = new ForkSchedule({...configOfFork(fork), chainId: 1});
    for (const other of HARDFORKS.filter(name => name !== "paris"))
      assert.equal(
        forks.isActive(other, {number: 0, timestamp: 0n}),
        HARDFORKS.indexOf(other) <= HARDFORKS.indexOf(fork),
        `${other} under ${fork}`,
      );
    const common = createFullRules(forks);
    common.setHardfork(fork);
    assert.equal(common.hardfork(), fork);
  }
});

test("a stored block with a difficulty is of a fork by number, one without of the newest that its time allows", () => {
  const forks = new ForkSchedule({...configOfFork("london"), chainId: 1, shanghaiTime: 100});
  assert.equal(forks.forkOfStored({number: 1, timestamp: 50n, difficulty: 2n}), "london");
  assert.equal(forks.forkOfStored({number: 1, timestamp: 50n}), "paris");
  assert.equal(forks.forkOfStored({number: 1, timestamp: 100n}), "shanghai");
  assert.equal(forks.forkOfStored({number: 0, timestamp: 100n, difficulty: 2n}), "shanghai");
});
