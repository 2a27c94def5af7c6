/** Verified proofs of Ethereum's state trie: eth_getProof of any node, and methods that only proofd has. */
import {encodeHex, type Hex, quantity} from "../bytes/hex.ts";
import {check, readBytes} from "../proof/strictJson.ts";
import type {RpcCaller} from "../rpc/rpcCaller.ts";
import {verifyHeader} from "../trie/blockHeader.ts";
import {verifyEthMultiProof} from "../trie/ethMultiProof.ts";
import {type ProvenEth, verifyEthProof} from "../trie/ethProof.ts";
import {
  askMultiProof,
  askProof,
  findProvable,
  type GetMultiProofParameters,
  type GetProofParameters,
  KEY_BYTES,
} from "./proofMethods.ts";
import {keccakSuite, type Trust, type TrustedRoot, TrustedRoots} from "./trustedRoot.ts";

/** What the answer to getProof proves with the suite keccak. */
export interface ProvenEthProof extends ProvenEth {
  readonly block: bigint;
  /** The root that it was verified against: the trusted one, or that of the header with the trusted hash. */
  readonly stateRoot: Hex;
  /** The answer of eth_getProof, as the server sent it. */
  readonly proof: unknown;
}

/** What the answer to getMultiProof proves with the suite keccak. */
export interface ProvenEthMultiProof extends Pick<ProvenEthProof, "block" | "stateRoot"> {
  /** One per entry of the request, in its order. */
  readonly entries: readonly ProvenEth[];
  /** Proof bytes (docs/proofs.md, section 17). */
  readonly proof: Uint8Array;
}

/**
 * Trusts the hashes of blocks instead of their roots. Only proofd sends the headers that lead from one to the other.
 */
export interface HashTrust extends Omit<Trust<typeof keccakSuite>, "trustedRoot"> {
  /** One hash for all answers, or how to find that of a block. */
  readonly trustedBlockHash: TrustedRoot;
  readonly trustedRoot?: undefined;
}

/** The trust of a client with the suite keccak. */
export type EthTrust = (Trust<typeof keccakSuite> & {readonly trustedBlockHash?: undefined}) | HashTrust;

const NO_REQUEST = {address: `0x${"00".repeat(20)}`, storageKeys: []};

export class EthMethods {
  private readonly trusted: TrustedRoots<typeof keccakSuite>;
  private readonly areHashes: boolean;

  /** @throws TypeError */
  constructor(
    private readonly caller: RpcCaller,
    {suite, rootTimeoutMs, ...trust}: EthTrust,
  ) {
    const {trustedRoot, trustedBlockHash} = trust;
    this.areHashes = trustedBlockHash !== undefined;
    if (this.areHashes && trustedRoot !== undefined)
      throw new TypeError("expected one of the options trustedRoot and trustedBlockHash, got both");
    const words = (trustedRoot ?? trustedBlockHash) as TrustedRoot;
    this.trusted = new TrustedRoots({suite, rootTimeoutMs, trustedRoot: words});
  }

  /** A tag is resolved first, unless the answer names its block. @throws RpcError, ProofError; as the trust */
  async getProof(parameters: GetProofParameters): Promise<ProvenEthProof> {
    const {block, proof, header} = this.areHashes
      ? await askProof(this.caller, parameters, keccakSuite.name)
      : await this.askEthProof(parameters);
    const {address, storageKeys = [], signal} = parameters;
    const root = await this.rootOf(block, header, signal);
    return {block, stateRoot: encodeHex(root), ...verifyEthProof(root, address, storageKeys, proof), proof};
  }

  /** A tag is resolved first. @throws as getProof */
  async getMultiProof(parameters: GetMultiProofParameters): Promise<ProvenEthMultiProof> {
    const {entries, signal} = parameters;
    const {block, proof} = await askMultiProof(this.caller, parameters, keccakSuite.name);
    const header = this.areHashes
      ? (await askProof(this.caller, {...NO_REQUEST, block, signal}, keccakSuite.name)).header
      : undefined;
    const root = await this.rootOf(block, header, signal);
    return {block, stateRoot: encodeHex(root), entries: verifyEthMultiProof(root, entries, proof), proof};
  }

  private async askEthProof({
    address,
    storageKeys = [],
    block: named = "finalized",
    ...asked
  }: GetProofParameters): Promise<{
    readonly block: bigint;
    readonly proof: unknown;
    readonly header?: undefined;
  }> {
    const block = await findProvable(this.caller, {block: named, ...asked});
    const request = {
      method: "eth_getProof",
      params: [address, storageKeys, quantity(block)],
      maxAnswerBytes: (1 + storageKeys.length) * KEY_BYTES,
    };
    return {block, proof: await this.caller.call(request, asked.signal)};
  }

  /** @param header - of the answer, in hex: what leads from a trusted hash to the root */
  private async rootOf(block: bigint, header: unknown, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const trusted = await this.trusted.of(block, signal);
    if (!this.areHashes) return trusted;
    const {number, stateRoot} = verifyHeader(trusted, readBytes("headerRlp", header));
    check(
      number === block,
      "headerRlp",
      `expected the header of block ${block}, got that of block ${number}`,
    );
    return stateRoot;
  }
}
