/**
 * State tests: one transaction in one block, with the root of the state and the hash of the logs after it.
 *
 *   env, pre, transaction      the block, the state, the parts of a transaction
 *   post.FORK[]                root and hash of the logs for the transaction of one choice of parts; txbytes: it, signed
 */
import type {Common} from "@ethereumjs/common";
import {RLP} from "@ethereumjs/rlp";
import {createTx} from "@ethereumjs/tx";
import {hexToBytes, type PrefixedHexString} from "@ethereumjs/util";
import {
  type JsonObject,
  parseBytes,
  parseObject,
  parseQuantity,
  parseWord,
} from "../../../evm/execution/gethJson.ts";
import {EvmDeclined} from "../../../evm/interpreter/ends.ts";
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import {StateTrie} from "../../../storage/commit/stateTrie.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {MemoryState} from "../chains/memoryState.ts";
import type {ChainFork} from "../evm/chainFork.ts";
import {listAccounts, parseGenesis} from "../evm/genesisText.ts";
import {runByInterpreter} from "../evm/interpreterTransaction.ts";
import type {BlockFields, Outcome} from "../evm/transactionOutcome.ts";
import {forkOf} from "./testForks.ts";

/** What became of one case. undefined: it passed. */
export type Verdict = {readonly failure: string} | {readonly skipped: string} | undefined;

export async function* runStateTest(test: JsonObject): AsyncGenerator<{name: string; verdict: Verdict}> {
  const config = parseObject(test.config ?? {}, "config");
  const before = readState(test.pre);
  for (const [network, cases] of Object.entries(parseObject(test.post, "post")))
    for (const [position, one] of (cases as JsonObject[]).entries()) {
      const name = `${network} ${position}`;
      const fork = forkOf(network, config);
      if (fork === undefined) yield {name, verdict: {skipped: `fork ${network}`}};
      else yield {name, verdict: await runCase(test, one, before, fork)};
    }
}

async function runCase(
  test: JsonObject,
  one: JsonObject,
  before: MemoryState,
  fork: ChainFork,
): Promise<Verdict> {
  const {common} = fork;
  const transaction =
    one.txbytes === undefined ? sign(test, one, common) : parseBytes(one.txbytes, "txbytes");
  const block = readBlock(parseObject(test.env, "env"), common);
  let outcome: Outcome;
  try {
    outcome = await runByInterpreter(fork, before, block, transaction);
  } catch (error) {
    if (error instanceof EvmDeclined) return {skipped: `the interpreter declines: ${error.reason}`};
    throw error;
  }
  const isRefused = outcome.refused !== undefined;
  if (isRefused !== (one.expectException !== undefined))
    return {
      failure: isRefused ? `refused: ${outcome.refused}` : `expected ${one.expectException}, got no error`,
    };
  const logs = outcome.refused === undefined ? outcome.logs : [];
  const encoded = RLP.encode(
    logs.map(({address, topics, data}) => [address, [...topics], data] as unknown as Uint8Array[]),
  );
  const state = outcome.refused === undefined ? outcome.state : before;
  const root = rootOf(state);
  if (root !== one.hash) return {failure: `state root: expected ${one.hash}, got ${root}`};
  const hash = toHex(keccak256(encoded));
  return hash === one.logs ? undefined : {failure: `hash of logs: expected ${one.logs}, got ${hash}`};
}

const trie = new StateTrie(new MemoryTries());

/** In the trie of `import`: the root that is expected is a stranger's. */
function rootOf({accounts}: MemoryState): string {
  const differences = new AccountDifferences();
  for (const [name, {slots, ...fields}] of accounts) {
    const storage = [...slots].map(([slot, value]) => ({slot: fromHex(slot), value: fromHex(value)}));
    differences.add({address: fromHex(name), change: {...fields, storage}});
  }
  return toHex(trie.change(differences));
}

function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), "hex"));
}

/** For tests that do not have the signed bytes. */
function sign(test: JsonObject, one: JsonObject, common: Common): Uint8Array {
  const parts = parseObject(test.transaction, "transaction");
  const at = parseObject(one.indexes, "indexes") as Record<"data" | "gas" | "value", number>;
  const pick = <T>(list: unknown, index: number): T | undefined =>
    (list as readonly T[] | undefined)?.[index];
  const {accessLists, secretKey, sender: _, to, ...fields} = parts;
  const accessList = pick<object>(accessLists, at.data);
  const type =
    parts.authorizationList !== undefined
      ? 4
      : parts.maxFeePerBlobGas !== undefined
        ? 3
        : parts.maxFeePerGas !== undefined
          ? 2
          : accessList !== undefined
            ? 1
            : 0;
  const transaction = {
    ...fields,
    type,
    chainId: common.chainId(),
    data: pick(parts.data, at.data),
    gasLimit: pick(parts.gasLimit, at.gas),
    value: pick(parts.value, at.value),
    ...(to !== "" && {to}),
    ...(accessList !== undefined && {accessList}),
  };
  return createTx(transaction as object, {common, allowUnlimitedInitCodeSize: true})
    .sign(hexToBytes(secretKey as PrefixedHexString))
    .serialize();
}

function readBlock(env: JsonObject, common: Common): BlockFields {
  const quantity = (field: string): bigint => parseQuantity(env[field] ?? 0, field, 256);
  return {
    number: quantity("currentNumber"),
    timestamp: quantity("currentTimestamp"),
    gasLimit: quantity("currentGasLimit"),
    coinbase: parseBytes(env.currentCoinbase, "currentCoinbase"),
    difficulty: quantity("currentDifficulty"),
    random: parseWord(env.currentRandom ?? "", "currentRandom"),
    baseFee: common.isActivatedEIP(1559) ? quantity("currentBaseFee") : undefined,
    excessBlobGas: common.isActivatedEIP(4844) ? quantity("currentExcessBlobGas") : undefined,
    blockHash: number => keccak256(Buffer.from(`${number}`)),
  };
}

function readState(pre: unknown): MemoryState {
  const text = JSON.stringify({config: {chainId: 1}, alloc: pre, gasLimit: 0, difficulty: 0});
  const state = new MemoryState();
  for (const {address, nonce, balance, code, storage} of listAccounts(parseGenesis(text))) {
    const slots = new Map(storage.map(({slot, value}) => [toHex(slot), toHex(value)]));
    state.accounts.set(toHex(address), {nonce, balance, code, slots});
  }
  return state;
}
