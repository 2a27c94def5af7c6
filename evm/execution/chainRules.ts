/** The rules of a chain before berlin, in the form that @ethereumjs takes. */
import {type ChainConfig, Common} from "@ethereumjs/common";
import {keccak256} from "../../storage/hash/keccak.ts";
import {ecrecover} from "../interpreter/ecrecover.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {CHAIN_START} from "./forks.ts";
import {listNames, parseObject, parseQuantity, readMembers} from "./gethJson.ts";

/** Call `setHardfork(forks.forkAt(block))` on the result to select the rules of a block. */
export function createChainRules(forks: ForkSchedule): Common {
  const numbered = forks.byNumber.map(({name, from}) => ({name, block: Number(from)}));
  const chain: ChainConfig = {
    name: "genesis",
    chainId: Number(forks.chainId),
    defaultHardfork: CHAIN_START,
    // Required, but only @ethereumjs' blockchain package reads it. genesisBlock.ts builds block 0.
    genesis: {gasLimit: 0, difficulty: 0, nonce: "0x", extraData: "0x"},
    hardforks: [{name: CHAIN_START, block: 0}, ...numbered],
    bootstrapNodes: [],
    consensus: readConsensus(forks),
  };
  return new Common({chain, hardfork: CHAIN_START, customCrypto: {keccak256, ecrecover}});
}

export function readConsensus({config}: ForkSchedule): ChainConfig["consensus"] {
  return config.clique === undefined
    ? {type: "pow", algorithm: "ethash", ethash: {}}
    : {type: "poa", algorithm: "clique", clique: readClique(config.clique)};
}

const CLIQUE_NAMES = listNames(["period", "epoch"], {blockPeriodSeconds: "period", epochLength: "epoch"});

function readClique(value: unknown): {period: number; epoch: number} {
  const path = "config.clique";
  const {period = 0, epoch = 30000} = readMembers(parseObject(value, path), `${path}.`, CLIQUE_NAMES);
  return {
    period: Number(parseQuantity(period, `${path}.period`, 53)),
    epoch: Number(parseQuantity(epoch, `${path}.epoch`, 53)),
  };
}
