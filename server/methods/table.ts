/** All methods of a process. A new method is a file of its own and a line here. */
import {estimateGas} from "./calls/estimateGas.ts";
import {ethCall} from "./calls/ethCall.ts";
import {proofCall} from "./calls/proofCall.ts";
import {listForwarded} from "./forwarding/forwarded.ts";
import type {LaneMethod, Method, OwnMethod} from "./method.ts";
import {getChanges} from "./proof/getChanges.ts";
import {getCodes} from "./proof/getCodes.ts";
import {getEthMultiProof} from "./proof/getEthMultiProof.ts";
import {getEthProof} from "./proof/getEthProof.ts";
import {getFinalizations} from "./proof/getFinalizations.ts";
import {getLeaves} from "./proof/getLeaves.ts";
import {getMultiProof} from "./proof/getMultiProof.ts";
import {getProof} from "./proof/getProof.ts";
import {getProofAt} from "./proof/getProofAt.ts";
import {createNamespacedProof} from "./proof/namespacedProof.ts";
import {getBalance, getCode, getStorageAt, getTransactionCount} from "./proof/stateReads.ts";
import {ethBlockNumber, rollupBlockNumber} from "./ready/blockNumber.ts";
import {ethCapabilities} from "./ready/capabilities.ts";
import {chainId, ethChainId, netVersion} from "./ready/chainId.ts";
import {clientVersion} from "./ready/clientVersion.ts";
import {createDiscover} from "./ready/discover.ts";
import {getBlockByHash, getBlockByNumber} from "./ready/getBlock.ts";
import {getCoverage} from "./ready/getCoverage.ts";
import {getHeader} from "./ready/getHeader.ts";
import {getStateRoot} from "./ready/getStateRoot.ts";

const METHODS: readonly OwnMethod[] = [
  getProof,
  getProofAt,
  getEthProof,
  getMultiProof,
  getEthMultiProof,
  getLeaves,
  getChanges,
  getBalance,
  getTransactionCount,
  getCode,
  getStorageAt,
  ethCall,
  proofCall,
  estimateGas,
  getStateRoot,
  getHeader,
  getCodes,
  getFinalizations,
  getCoverage,
  chainId,
  ethChainId,
  ethBlockNumber,
  getBlockByNumber,
  getBlockByHash,
  ethCapabilities,
  netVersion,
  clientVersion,
];

/** The methods of one kind of requests. */
export type Methods = Pick<MethodTable, "find" | "findNear">;

export class MethodTable {
  /** The methods that proofd answers itself, at least some of their calls. */
  readonly methods: readonly OwnMethod[];
  /** Names that calls are counted under. All other names are counted as "unknown". */
  readonly names: readonly string[];
  private readonly byName: ReadonlyMap<string, Method>;
  /** Names by their lower case, and by what they ask for (subjectOf): of several, chain_.. */
  private readonly near: ReadonlyMap<string, string>;
  private readonly longest: number;
  private last: Method | undefined;

  /**
   * @param namespace - undefined: only the methods that every process has
   * @param forwarded - methods of --gateway-methods. undefined: no call is forwarded
   */
  constructor(namespace?: string, forwarded?: readonly string[]) {
    const added = namespace === undefined ? [] : createNamespaceMethods(namespace);
    this.methods = [...METHODS, ...added, createDiscover(() => this.methods)];
    const elsewhere = forwarded === undefined ? [] : listForwarded(this.methods, forwarded);
    this.byName = new Map([...this.methods, ...elsewhere].map(method => [method.name, method]));
    this.names = [...this.byName.keys()];
    const spellings = [subjectOf, (name: string) => name.toLowerCase()];
    this.near = new Map(
      this.names.toReversed().flatMap(name => spellings.map(spell => [spell(name), name] as const)),
    );
    this.longest = Math.max(...this.names.map(name => name.length));
  }

  find(name: string): Method | undefined {
    // Most calls of a batch name the same method, and a comparison takes less time than a look in the map.
    if (name === this.last?.name) return this.last;
    // A map reads a whole name to look it up. The names of a batch may have megabytes.
    const method = name.length > this.longest ? undefined : this.byName.get(name);
    if (method !== undefined) this.last = method;
    return method;
  }

  /** @returns the method that may be meant by a name that is not known */
  findNear(name: string): string | undefined {
    if (name.length > 2 * this.longest) return undefined;
    return this.near.get(name.toLowerCase()) ?? this.near.get(subjectOf(name));
  }
}

/** @returns "proof" for chain_getProof, zks_getProof and getProofs: what another server may call the same */
function subjectOf(name: string): string {
  const own = name.slice(name.search(/[_.]/) + 1).toLowerCase();
  return own.replace(/[^a-z]|^get|s$/g, "");
}

/** The methods of `proofd serve --namespace`, for clients that know a network's own server. @param namespace - such as "linea" */
function createNamespaceMethods(namespace: string): readonly OwnMethod[] {
  const estimate = {...estimateGas, name: `${namespace}_estimateGas`} as LaneMethod;
  return [createNamespacedProof(namespace), estimate, rollupBlockNumber];
}
