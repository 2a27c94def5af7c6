/** From the answers of a server to what they prove. */
import {encodeHex} from "../bytes/hex.ts";
import {verifyMultiProof} from "../compact/multiProof.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import {type Proven, verifyProof} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import {check} from "../proof/strictJson.ts";
import type {RootedBlock} from "./block.ts";
import {MAX_MS, requireWhole} from "./connection.ts";
import type {ProofJson} from "./proofJson.ts";
import {type Trust, TrustedRoots} from "./trustedRoot.ts";

const DEFAULT_ROOT_TIMEOUT_MS = 60_000;

/** What the answer to getProof or waitForProof proves. */
export interface ProvenProof extends Proven {
  readonly block: bigint;
  /** The trusted root that it was verified against. */
  readonly stateRoot: string;
  readonly proof: ProofJson;
}

/** What the answer to getMultiProof proves. */
export interface ProvenMultiProof {
  readonly block: bigint;
  /** The trusted root that it was verified against. */
  readonly stateRoot: string;
  /** One per entry of the request, in its order. */
  readonly entries: readonly Proven[];
  /** Proof bytes (docs/proofs.md, section 9), as a contract takes them. */
  readonly proof: Uint8Array;
}

/** An answer with `verify: false`. Nothing of it is verified, not even the shape of the proof. */
export interface ServerProof {
  readonly block: bigint;
  readonly proof: ProofJson;
}

/** As above, for getMultiProof. */
export interface ServerMultiProof {
  readonly block: bigint;
  readonly proof: Uint8Array;
}

/** Verifies the answers of one server. */
export class AnswerVerifier {
  readonly suite: HashSuite;
  private readonly roots: TrustedRoots;

  /** @throws TypeError if a part is missing, which types cannot tell callers in JavaScript, or the root is none */
  constructor({suite, trustedRoot, rootTimeoutMs = DEFAULT_ROOT_TIMEOUT_MS}: Partial<Trust>) {
    if (suite === undefined || trustedRoot === undefined)
      throw new TypeError("suite and trustedRoot are needed, unless verify is false");
    this.suite = suite;
    this.roots = new TrustedRoots(
      suite,
      trustedRoot,
      requireWhole("rootTimeoutMs", rootTimeoutMs, 1, MAX_MS),
    );
  }

  /**
   * @param claimed - the block that the server names; undefined if the answer names none
   * @throws ProofError; what the trusted root's source throws
   */
  async verifyProof(
    {address, storageKeys}: ProofRequest,
    block: bigint,
    proof: unknown,
    signal: AbortSignal | undefined,
    claimed?: RootedBlock,
  ): Promise<ProvenProof> {
    const root = await this.roots.of(block, signal);
    const stateRoot = encodeHex(root);
    check(
      claimed === undefined || claimed.stateRoot === stateRoot,
      "block.stateRoot",
      `is not the trusted root of block ${block}`,
    );
    const proven = verifyProof(this.suite, root, address, storageKeys, proof);
    return {block, stateRoot, ...proven, proof: proof as ProofJson};
  }

  /** @throws as above */
  async verifyMultiProof(
    entries: readonly ProofRequest[],
    block: bigint,
    proof: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<ProvenMultiProof> {
    const root = await this.roots.of(block, signal);
    const proven = verifyMultiProof(this.suite, root, entries, proof);
    return {block, stateRoot: encodeHex(root), entries: proven, proof};
  }
}
