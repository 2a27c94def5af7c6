/**
 * Verified calls: a server answers proof_call with all nodes, codes and headers that executing the call read. The call is
 * executed here again, by @ethereumjs/evm, on nothing else.
 *
 *   trusted block hash -> header -> state root -> nodes -> accounts and slots
 *                            |                               |
 *                            block                           code hashes -> codes
 *
 * @module
 */
import {createEVM} from "@ethereumjs/evm";
import {Address} from "@ethereumjs/util";
import {isEqual} from "../bytes/byteString.ts";
import {encodeHex, type Hex} from "../bytes/hex.ts";
import {isObject, shown} from "../bytes/values.ts";
import type {Abortable, HeldBlockName} from "../methods/askedBlock.ts";
import type {GetCallWitnessParameters} from "../methods/callWitness.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import {keccakSuite, type TrustedRoot, TrustedRoots} from "../methods/trustedRoot.ts";
import {ProofError} from "../proof/proofError.ts";
import {parseAddress} from "../proof/request.ts";
import {check, readBytes, readFields} from "../proof/strictJson.ts";
import {RpcError} from "../rpc/rpcError.ts";
import {type CallHeader, checkNamed, proveHashes, readHeaders, readLastHeader} from "./callHeaders.ts";
import {createExtCodeHash, createRules, executionGas, forkOf, type Hardfork} from "./callRules.ts";
import {WitnessState} from "./witnessState.ts";

export type {Hardfork};

/** A call without fees, so that GASPRICE and BASEFEE are 0 in it, as in eth_call. */
export type VerifiableCall = GetCallWitnessParameters["call"];

/** One of `blockHash` and `stateRoot`. */
export interface CallTrust extends Abortable {
  /** Default: the block with this `blockHash`, if that is not a function; otherwise "finalized". */
  readonly block?: HeldBlockName | undefined;
  /** The hash of the block, or how to find that of a block. */
  readonly blockHash?: TrustedRoot | undefined;
  /** The state root in its header. It proves nothing else of the block: a call that reads its number or time fails. */
  readonly stateRoot?: TrustedRoot | undefined;
  /** What CHAINID returns. Default: a call that reads it fails. */
  readonly chainId?: number | bigint | undefined;
  /** Default: by the fields of the header with the trusted hash, where it is "osaka" for prague too; otherwise "osaka". */
  readonly hardfork?: Hardfork | undefined;
}

export interface ProvenCall {
  /** What the call returns. */
  readonly value: Hex;
  /** Of a `stateRoot` that is not a function: the server chooses it, unless `block` is a number or a hash. */
  readonly block: bigint;
}

/** Of a call that names none: most that geth and proofd allow by default. */
const DEFAULT_GAS = 50_000_000n;
/** JSON-RPC codes of the server's errors. */
const REVERTED = 3;
const FAILED = -32000;
const ZERO_ADDRESS = `0x${"00".repeat(20)}`;

/**
 * Asks a server to execute a call, and verifies its answer.
 *
 *     const {value, block} = await verifyCall(client, {to, data}, {blockHash});
 *
 * @throws ProofError; RpcError, code 3 if the call is proven to revert: then `data` has the revert bytes
 */
export async function verifyCall(
  client: Pick<ProofClient, "getCallWitness">,
  call: VerifiableCall,
  trust: CallTrust,
): Promise<ProvenCall> {
  const {blockHash, signal} = trust;
  const named = blockHash instanceof Uint8Array ? encodeHex(blockHash) : blockHash;
  const block = trust.block ?? (typeof named === "string" ? {blockHash: named} : "finalized");
  const answer = await client
    .getCallWitness({call: {gas: DEFAULT_GAS, ...call}, block, signal})
    .catch((error: unknown) => {
      // An error without a witness must not look like one that is proven.
      if (error instanceof RpcError && (error.code === REVERTED || error.code === FAILED))
        throw new ProofError("error", `the server says without a proof: ${error.message}`);
      throw error;
    });
  return verifyCallAnswer(call, answer, {...trust, block});
}

/** What a call may have. */
const FIELDS: readonly string[] = ["from", "to", "data", "value", "gas"];

/** Verifies the `result` of an answer to proof_call. @param call - your own. @throws as verifyCall */
export async function verifyCallAnswer(
  call: VerifiableCall,
  result: unknown,
  trust: CallTrust,
): Promise<ProvenCall> {
  const other = Object.keys(call).find(
    name => !FIELDS.includes(name) && call[name as keyof VerifiableCall] !== undefined,
  );
  check(other === undefined, "call", `expected the fields ${FIELDS.join()}, got ${other}`);
  const [witness] = readFields("result", result, ["witness"]);
  const [state, codes, sent] = readFields("witness", witness, ["state", "codes", "headers"]);
  const headers = readHeaders(sent);
  const header = readLastHeader(headers);
  const {number, stateRoot} = header;
  checkNamed(headers, number, trust.block);
  const isByHash = trust.blockHash !== undefined;
  const root = await readTrusted(trust, number);
  const hashes = isByHash ? proveHashes(headers, root) : new Map<bigint, Uint8Array>();
  check(isByHash || isEqual(stateRoot, root), "witness.headers", "does not have the trusted state root");
  const rules = createRules(trust.hardfork ?? (isByHash ? forkOf(header) : "osaka"), trust.chainId);
  const block = describeBlock(isByHash ? header : undefined);
  const stateManager = new WitnessState(stateRoot, state, codes);
  const evm = await createEVM({
    common: rules,
    stateManager,
    blockchain: {getBlock: async (asked: number) => findHash(hashes, asked)} as never,
    customOpcodes: [createExtCodeHash(rules)],
  });
  const from = addressOf(call.from ?? ZERO_ADDRESS);
  const to = call.to === undefined ? undefined : addressOf(call.to);
  const data = readBytes("call.data", String(call.data ?? "0x").toLowerCase());
  const value = readAmount("call.value", call.value ?? 0);
  const gasLimit = executionGas(
    rules,
    readAmount("call.gas", call.gas ?? DEFAULT_GAS),
    data,
    to === undefined,
  );
  const {balance = 0n} = (await stateManager.getAccount(from)) ?? {};
  check(balance >= value, "call", `the sender has ${balance} wei, less than the value`);
  const coinbase = isByHash && rules.isActivatedEIP(3651) ? [encodeHex(header.coinbase)] : [];
  for (const address of [from, to ?? from, ...evm.precompiles.keys(), ...coinbase])
    evm.journal.addAlwaysWarmAddress(`${address}`);
  const message = {block, caller: from, data, value, gasLimit, ...(to && {to})};
  const {execResult} = await evm.runCall(message as never).catch((error: Error) => {
    // What the EVM throws itself is not of the call, such as a precompile that it lacks.
    throw error instanceof ProofError
      ? error
      : new ProofError("call", `cannot be executed here: ${error.message}`);
  });
  const returned = encodeHex(execResult.returnValue);
  checkOutcome(result, execResult.exceptionError?.error, returned);
  return {value: returned, block: number};
}

/** @returns the hash or the state root of a block, 32 bytes */
function readTrusted({blockHash, stateRoot, signal}: CallTrust, block: bigint): Promise<Uint8Array> {
  const trustedRoot = blockHash ?? stateRoot;
  if (trustedRoot === undefined || (blockHash !== undefined && stateRoot !== undefined))
    throw new TypeError("expected one of the options blockHash and stateRoot");
  return new TrustedRoots({suite: keccakSuite, trustedRoot}).of(block, signal);
}

/** @param header - proven; undefined: nothing is. @returns the block as the EVM reads it: what is not proven throws */
function describeBlock(header: CallHeader | undefined): object {
  const proven = {baseFeePerGas: 0n, ...(header && {...header, coinbase: new Address(header.coinbase)})};
  const why = header ? "no header says" : "a state root does not prove: expected the option blockHash";
  const get = (fields: object, name: string) => {
    check(name in fields, "call", `reads ${name} of the block, which ${why}`);
    return fields[name as never];
  };
  return {header: new Proxy(proven, {get: get as never})};
}

function findHash(hashes: ReadonlyMap<bigint, Uint8Array>, block: number) {
  const hash = hashes.get(BigInt(block));
  check(hash !== undefined, "witness.headers", `the call reads the hash of block ${block}, which is missing`);
  return {hash: () => hash};
}

/** @param amount - of the caller, who may be a program in JavaScript or a file. @throws ProofError */
function readAmount(at: string, amount: unknown): bigint {
  const text = String(amount);
  check(/^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(text), at, `expected an amount, got ${shown(amount)}`);
  return BigInt(text);
}

function addressOf(text: string): Address {
  return new Address(parseAddress(text));
}

/**
 * @param failure - the EVM's reason. The code of the server's error is not compared: servers have several for a revert
 * @throws ProofError unless the answer says the same; RpcError if the call fails
 */
function checkOutcome(answer: unknown, failure: string | undefined, returned: Hex): void {
  const {result, error} = answer as {result?: unknown; error?: unknown};
  if (failure === undefined) {
    check((error ?? undefined) === undefined, "error", "the call succeeds");
    check(result === returned, "result", () => `expected ${shown(returned)}, got ${shown(result)}`);
    return;
  }
  check(isObject(error) && (result ?? undefined) === undefined, "result", () => `the call fails: ${failure}`);
  if (failure !== "revert") throw new RpcError(FAILED, `the execution failed: ${failure}`);
  const data = error.data ?? "0x";
  check(data === returned, "error.data", () => `expected ${shown(returned)}, got ${shown(data)}`);
  throw new RpcError(REVERTED, "execution reverted", {data: returned});
}
