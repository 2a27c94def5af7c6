/** Blocks that are invalid although they change nothing: by their parent, or by a system contract. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {RLP} from "@ethereumjs/rlp";
import {KECCAK256_RLP, KECCAK256_RLP_ARRAY, SHA256_NULL} from "@ethereumjs/util";
import {BlockExecutor, type BlockExecutorOptions} from "../../../evm/execution/blockExecutor.ts";
import type {BlockHead} from "../../../evm/execution/blockHead.ts";
import {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";
import {parseGenesis} from "../../../evm/execution/genesis.ts";
import {checkParent} from "../../../evm/execution/parentCheck.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {MemoryNodes} from "../../support/chains/memoryNodes.ts";

const WITHDRAWALS = "0x00000961ef480eb55e80d19ad83579a64c007002";
const CONSOLIDATIONS = "0x0000bbddc7ce488642fb579f8b00f3a590007251";
const STOP = {balance: "0x0", code: "0x00"};
const REVERT = {balance: "0x0", code: "0x5f5ffd"};
const INVALID = {balance: "0x0", code: "0xfe"};
const NO_CODE = {balance: "0x1"};
const BLOB = 131_072n;

interface Chain {
  readonly executor: BlockExecutor;
  readonly options: BlockExecutorOptions;
  readonly parent: BlockHead;
}

/** @param fields - of the genesis file */
async function start(fork: string, fields: object = {}, config: object = {}): Promise<Chain> {
  const blobs = {target: 6, max: 9, baseFeeUpdateFraction: 5_007_716};
  const genesis = parseGenesis(
    JSON.stringify({
      config: {chainId: 1, ...configOfFork(fork), blobSchedule: {prague: blobs, osaka: blobs}, ...config},
      ...{gasLimit: "0x1c9c380", difficulty: "0x0", baseFeePerGas: "0x7"},
      alloc: {[WITHDRAWALS]: STOP, [CONSOLIDATIONS]: STOP},
      ...fields,
    }),
  );
  const options = {forks: genesis.forks, nodes: new MemoryNodes(), blockHash: () => undefined};
  const {executor, difference} = await BlockExecutor.start(options, genesis);
  return {executor, options, parent: difference.header as BlockHead};
}

/** An empty block after `parent`, with another value in one of the fields. */
function blockAfter(parent: BlockHead, changes: Readonly<Record<string, bigint>> = {}): Uint8Array {
  const next: Record<string, bigint | undefined> = {
    gasLimit: parent.gasLimit,
    timestamp: parent.timestamp + 12n,
    baseFee: parent.baseFeePerGas,
    excessBlobGas: parent.excessBlobGas,
    ...changes,
  };
  const nothing = new Uint8Array(0);
  const header = [
    ...[parent.hash, KECCAK256_RLP_ARRAY, new Uint8Array(20), parent.stateRoot, KECCAK256_RLP, KECCAK256_RLP],
    ...[new Uint8Array(256), nothing, BigInt(parent.number + 1), next.gasLimit, nothing, next.timestamp],
    ...[nothing, new Uint8Array(32), new Uint8Array(8), next.baseFee, KECCAK256_RLP],
    ...[nothing, next.excessBlobGas, new Uint8Array(32), SHA256_NULL],
  ];
  return RLP.encode([header as Uint8Array[], [], [], []]);
}

async function refuse({executor}: Chain, block: Uint8Array, message: string | RegExp): Promise<void> {
  await assert.rejects(executor.execute(block), {code: "BLOCK_INVALID", message});
}

test("timestamp, gas limit and base fee must follow from the parent's", async () => {
  const chain = await start("prague", {timestamp: "0x64"});
  const refusals: readonly [Record<string, bigint>, string][] = [
    [{timestamp: 99n}, "timestamp: expected 100 or later as its parent's, got 99"],
    [{gasLimit: 30_029_296n}, "gas limit: expected 29970705 to 30029295 by its parent's, got 30029296"],
    [{gasLimit: 29_970_704n}, "gas limit: expected 29970705 to 30029295 by its parent's, got 29970704"],
    [{baseFee: 8n}, "base fee: expected 7 by its parent, got 8"],
  ];
  for (const [changes, message] of refusals)
    await refuse(chain, blockAfter(chain.parent, changes), `block 1: ${message}`);
  await chain.executor.execute(
    blockAfter(chain.parent, {timestamp: 100n, gasLimit: 30_029_295n, baseFee: 7n}),
  );
});

test("the first block with a base fee has the initial one, and twice the gas limit of its parent", () => {
  const forks = new ForkSchedule({...configOfFork("london"), chainId: 1});
  const parent = {timestamp: 100n, gasLimit: 5_000_000n, gasUsed: 0n} as BlockHead;
  const head = {timestamp: 112n, gasLimit: 10_000_000n, baseFeePerGas: 1_000_000_000n} as BlockHead;
  checkParent(head, parent, forks, "london");
  const refuse = (changes: Partial<BlockHead>, message: string) =>
    assert.throws(() => checkParent({...head, ...changes}, parent, forks, "london"), {message});
  refuse({baseFeePerGas: 875_000_000n}, "base fee: expected 1000000000 by its parent, got 875000000");
  refuse({gasLimit: 5_000_000n}, "gas limit: expected 9990236 to 10009764 by its parent's, got 5000000");
});

test("excess blob gas must be what the parent gives, also after the execution was resumed", async () => {
  const excessBlobGas = `0x${(10n * BLOB).toString(16)}`;
  const cases: readonly [fork: string, genesis: object, baseFee: bigint, excess: bigint][] = [
    ["prague", {excessBlobGas}, 7n, 4n * BLOB],
    ["osaka", {excessBlobGas}, 7n, 4n * BLOB],
    // EIP-7918: blobs are cheaper than the gas for them, so the excess does not fall.
    ["osaka", {excessBlobGas, baseFeePerGas: "0x3b9aca00"}, 875_000_000n, 10n * BLOB],
    ["osaka", {excessBlobGas, blobGasUsed: `0x${(9n * BLOB).toString(16)}`}, 7n, 13n * BLOB],
  ];
  for (const [fork, fields, baseFee, excess] of cases) {
    const chain = await start(fork, fields);
    for (const wrong of [0n, excess - 1n, excess + BLOB])
      await refuse(
        chain,
        blockAfter(chain.parent, {baseFee, excessBlobGas: wrong}),
        `block 1: excess blob gas: expected ${excess} by its parent, got ${wrong}`,
      );
    const {header} = await chain.executor.execute(blockAfter(chain.parent, {baseFee, excessBlobGas: excess}));
    const executor = await BlockExecutor.resume(chain.options, header);
    const next = blockAfter(header as BlockHead, {excessBlobGas: 99n * BLOB});
    await refuse(
      {...chain, executor},
      next,
      /^block 2: (base fee|excess blob gas): expected \d+ by its parent, got/,
    );
  }
});

test("a block is invalid when a system contract has no code or its call fails", async () => {
  for (const [eip, address] of [
    [7002, WITHDRAWALS],
    [7251, CONSOLIDATIONS],
  ] as const) {
    const table: readonly [object | undefined, string][] = [
      [undefined, `the system contract ${address} (EIP-${eip}) has no code`],
      [NO_CODE, `the system contract ${address} (EIP-${eip}) has no code`],
      [REVERT, `the call of the system contract ${address} (EIP-${eip}) fails: revert`],
      [INVALID, `the call of the system contract ${address} (EIP-${eip}) fails: invalidOpcode`],
    ];
    for (const [account, message] of table) {
      const alloc = {[WITHDRAWALS]: STOP, [CONSOLIDATIONS]: STOP, [address]: account};
      const chain = await start("prague", {alloc});
      await refuse(chain, blockAfter(chain.parent), `block 1: ${message}`);
      const cancun = await start("cancun", {alloc});
      const [header, ...body] = RLP.decode(blockAfter(cancun.parent)) as [Uint8Array[], ...Uint8Array[]];
      const withoutRequests = RLP.encode([header.slice(0, -1), ...body]);
      const {header: taken} = await cancun.executor.execute(withoutRequests);
      assert.deepEqual(taken.hash, keccak256(RLP.encode(header.slice(0, -1))));
    }
  }
});

test("the system contracts are where the genesis config says", async () => {
  const elsewhere = `0x${"77".repeat(20)}`;
  const alloc = {[elsewhere]: STOP, [WITHDRAWALS]: REVERT, [CONSOLIDATIONS]: STOP};
  const chain = await start("osaka", {alloc}, {withdrawalRequestContractAddress: elsewhere});
  await chain.executor.execute(blockAfter(chain.parent));
  const none = await start("osaka", {alloc}, {consolidationRequestContractAddress: `0x${"78".repeat(20)}`});
  await refuse(
    none,
    blockAfter(none.parent),
    /^block 1: the call of the system contract 0x0{5}961ef.* fails: revert$/,
  );
});
