/** All methods. A new method is a file of its own and a line here. */
import {estimateGas} from "./estimateGas/estimateGas.ts";
import type {Method} from "./method.ts";
import {getProof} from "./proof/getProof.ts";
import {getProofAt} from "./proof/getProofAt.ts";
import {chainId} from "./ready/chainId.ts";
import {clientVersion} from "./ready/clientVersion.ts";
import {createDiscover} from "./ready/discover.ts";
import {ethBlockNumber} from "./ready/ethBlockNumber.ts";
import {ethChainId} from "./ready/ethChainId.ts";
import {getCoverage} from "./ready/getCoverage.ts";
import {getStateRoot} from "./ready/getStateRoot.ts";
import {netVersion} from "./ready/netVersion.ts";

export const METHODS: readonly Method[] = [
  getProof,
  getProofAt,
  estimateGas,
  getStateRoot,
  getCoverage,
  chainId,
  ethChainId,
  ethBlockNumber,
  netVersion,
  clientVersion,
  createDiscover(() => METHODS),
];

const BY_NAME: ReadonlyMap<string, Method> = new Map(METHODS.map(method => [method.name, method]));

export function findMethod(name: string): Method | undefined {
  return BY_NAME.get(name);
}

/** Names that calls are counted under. All other names are counted as "unknown". */
export const METHOD_NAMES: readonly string[] = [...BY_NAME.keys()];
