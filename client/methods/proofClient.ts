/** The client: every method of the service, with proofs verified against a trusted root. */

import type {Abortable} from "./askedBlock.ts";
import {type GetStateRootParameters, getStateRoot, type RootedBlock} from "./block.ts";
import {type GetCallWitnessParameters, getCallWitness} from "./callWitness.ts";
import {type GetChangesParameters, getChanges} from "./changes.ts";
import {type GetCodesParameters, getCodes} from "./codes.ts";
import {type ConnectionOptions, createCaller, type RpcCaller} from "./connection.ts";
import {type Coverage, getCoverage} from "./coverage.ts";
import {type Estimate, type EstimateRequest, estimateGas} from "./estimate.ts";
import {createEthMethods, type EthTrust, type ProvenEthMultiProof, type ProvenEthProof} from "./ethProof.ts";
import {type Finalization, type GetFinalizationsParameters, getFinalizations} from "./finalization.ts";
import {type BlockContext, getHeader} from "./header.ts";
import {type GetLeavesParameters, getLeaves} from "./leaves.ts";
import {
  type GetMultiProofParameters,
  type GetProofParameters,
  getMultiProof,
  getProof,
  type WaitForProofParameters,
  waitForProof,
} from "./proofMethods.ts";
import type {
  ProvenChanges,
  ProvenLeaves,
  ProvenMultiProof,
  ProvenProof,
  ServerChanges,
  ServerLeaves,
  ServerMultiProof,
  ServerProof,
} from "./provenAnswer.ts";
import {type NoTrust, type Trust, TrustedRoots} from "./trustedRoot.ts";

/**
 * Methods throw RpcError, and those with proofs throw ProofError for a proof that does not prove what was asked for
 * against the trusted root. Whatever the source of the trusted root throws comes through.
 */
export interface ProofClient<Verifies extends boolean = true> {
  /** One account and some of its slots. */
  getProof(parameters: GetProofParameters): Promise<Verifies extends true ? ProvenProof : ServerProof>;
  /** Polls until the block is finalized and its root is known, and then does as getProof. */
  waitForProof(
    parameters: WaitForProofParameters,
  ): Promise<Verifies extends true ? ProvenProof : ServerProof>;
  /** One proof for many accounts and slots. */
  getMultiProof(
    parameters: GetMultiProofParameters,
  ): Promise<Verifies extends true ? ProvenMultiProof : ServerMultiProof>;
  /** All leaves of a range of one tree. Ask again from `end` on, until it is `nextFreeNode`. */
  getLeaves(parameters: GetLeavesParameters): Promise<Verifies extends true ? ProvenLeaves : ServerLeaves>;
  /** All leaves that differ between two blocks. Ask again with `end` as cursor, until it is undefined. */
  getChanges(
    parameters: GetChangesParameters,
  ): Promise<Verifies extends true ? ProvenChanges : ServerChanges>;
  /** Contract code by its keccak hash, which proves it. undefined where the server knows no code of that hash. */
  getCodes(parameters: GetCodesParameters): Promise<readonly (Uint8Array | undefined)[]>;
  /** What the server claims, without proofs, as in all methods below. */
  getHeader(parameters?: GetStateRootParameters): Promise<BlockContext>;
  getStateRoot(parameters?: GetStateRootParameters): Promise<RootedBlock>;
  getFinalizations(parameters?: GetFinalizationsParameters): Promise<readonly Finalization[]>;
  getCoverage(parameters?: Abortable): Promise<Coverage>;
  estimateGas(parameters: EstimateRequest): Promise<Estimate>;
  /** The result of a call and the state that it read, which `verifyCall` of `proofd-client/call` verifies. */
  getCallWitness(parameters: GetCallWitnessParameters): Promise<unknown>;
}

/** With the suite keccak. */
export interface EthProofClient
  extends Omit<ProofClient, "getProof" | "waitForProof" | "getMultiProof" | "getLeaves" | "getChanges"> {
  /** One account and some of its slots, by eth_getProof of any node. A tag or a trusted block hash needs proofd. */
  getProof(parameters: GetProofParameters): Promise<ProvenEthProof>;
  /** One proof for many accounts and slots. Needs proofd. */
  getMultiProof(parameters: GetMultiProofParameters): Promise<ProvenEthMultiProof>;
}

/** Methods that need no trusted root. */
function bindUnproven(caller: RpcCaller) {
  return {
    getCodes: (parameters: GetCodesParameters) => getCodes(caller, parameters),
    getHeader: (parameters?: GetStateRootParameters) => getHeader(caller, parameters),
    getStateRoot: (parameters?: GetStateRootParameters) => getStateRoot(caller, parameters),
    getFinalizations: (parameters?: GetFinalizationsParameters) => getFinalizations(caller, parameters),
    getCoverage: (parameters?: Abortable) => getCoverage(caller, parameters),
    estimateGas: (request: EstimateRequest) => estimateGas(caller, request),
    getCallWitness: (parameters: GetCallWitnessParameters) => getCallWitness(caller, parameters),
  };
}

/**
 * Makes a client. It holds no resource: connections are those of `fetch`, or of the library whose `request` it calls.
 *
 *     const client = createProofClient({
 *       url: "http://127.0.0.1:8545",
 *       suite: sha256Suite,
 *       trustedRoot: block => myRoots.get(block),
 *     });
 *     const {block, account, slots} = await client.getProof({address, storageKeys: ["0x0"]});
 *
 * @throws TypeError for an invalid option
 */
export function createProofClient(options: ConnectionOptions & Trust): ProofClient;
export function createProofClient(options: ConnectionOptions & NoTrust): ProofClient<false>;
export function createProofClient(options: ConnectionOptions & EthTrust): EthProofClient;
export function createProofClient(
  options: ConnectionOptions & (Trust | NoTrust | EthTrust),
): ProofClient<boolean> | EthProofClient {
  const caller = createCaller(options);
  const unproven = bindUnproven(caller);
  // Callers in JavaScript may pass no suite. TrustedRoots then throws an error that says so.
  if (options.verify !== false && options.suite?.name === "keccak")
    return {...unproven, ...createEthMethods(caller, options as EthTrust)};
  const methods = {
    caller,
    verifier: options.verify === false ? undefined : new TrustedRoots(options as Trust),
  };
  return {
    ...unproven,
    getProof: parameters => getProof(methods, parameters),
    waitForProof: parameters => waitForProof(methods, parameters),
    getMultiProof: parameters => getMultiProof(methods, parameters),
    getLeaves: parameters => getLeaves(methods, parameters),
    getChanges: parameters => getChanges(methods, parameters),
  };
}
