/** The methods of `proofd serve --namespace`, for clients that know a network's own server. */
import {estimateGas} from "./estimateGas/estimateGas.ts";
import {createEstimateParams} from "./estimateGas/estimateParams.ts";
import type {LaneMethod, Method} from "./method.ts";
import {createNamespacedProof} from "./proof/namespacedProof.ts";
import {rollupBlockNumber} from "./ready/blockNumber.ts";

/** @param namespace - the prefix of the names, such as "linea" */
export function createNamespaceMethods(namespace: string): readonly Method[] {
  return [createNamespacedProof(namespace), createNamespacedEstimate(namespace), rollupBlockNumber];
}

function createNamespacedEstimate(namespace: string): LaneMethod {
  const name = `${namespace}_estimateGas`;
  return {...estimateGas, name, params: createEstimateParams(name)} as LaneMethod;
}
