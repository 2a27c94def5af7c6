/** The rules of a chain, as @ethereumjs takes them: for blocks from before berlin, and for transactions in JSON. */
import {type ChainConfig, Common, type HardforkTransitionConfig} from "@ethereumjs/common";
import {hexToBytes, type KZG, type PrefixedHexString} from "@ethereumjs/util";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {ecrecover} from "../interpreter/ecrecover.ts";
import {verifyPointEvaluation} from "../interpreter/precompiles/pointEvaluation.ts";
import {PrecompileRefusal} from "../interpreter/precompiles/precompile.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {CHAIN_START, PARIS} from "./forks.ts";
import {listNames, parseObject, parseQuantity, readMembers} from "./gethJson.ts";

/** The rules of the whole chain; `setHardfork(forks.forkAt(block))` selects a block's. */
export function createChainRules(forks: ForkSchedule): Common {
  const {config, blobs, systemContracts} = forks;
  const scheduled: HardforkTransitionConfig[] = [
    {name: CHAIN_START, block: 0},
    ...forks.byNumber.map(({name, from}) => ({name, block: Number(from)})),
    {name: PARIS, block: null},
    ...forks.byTime.map(({name, from}) => ({name, block: null, timestamp: Number(from)})),
  ];
  const {customHardforks} = blobs;
  const addresses = Object.fromEntries(systemContracts.map(({param, address}) => [param, toHex(address)]));
  const params = {...blobs.params, prague: {...blobs.params.prague, ...addresses}};
  const chain: ChainConfig = {
    name: "genesis",
    chainId: Number(forks.chainId),
    defaultHardfork: CHAIN_START,
    // Only @ethereumjs' blockchain package reads this. genesisBlock.ts makes the genesis block.
    genesis: {gasLimit: 0, difficulty: 0, nonce: "0x", extraData: "0x"},
    hardforks: scheduled,
    customHardforks,
    bootstrapNodes: [],
    consensus:
      config.clique === undefined
        ? {type: "pow", algorithm: "ethash", ethash: {}}
        : {type: "poa", algorithm: "clique", clique: readClique(config.clique)},
    // geth's default is no deposit contract; @ethereumjs would take mainnet's.
    depositContractAddress: toHex(forks.depositContract) as PrefixedHexString,
  };
  return new Common({chain, hardfork: CHAIN_START, customCrypto: {keccak256, ecrecover, kzg}, params});
}

const kzg = {
  verifyProof: (commitment, z, y, proof) => {
    const [c, p] = [commitment, proof].map(point => hexToBytes(point as PrefixedHexString)) as [
      Uint8Array,
      Uint8Array,
    ];
    try {
      return verifyPointEvaluation(c, BigInt(z), BigInt(y), p);
    } catch (error) {
      // By this name the library tells input that is none.
      throw error instanceof PrecompileRefusal ? new Error(`C_KZG_BADARGS: ${error.message}`) : error;
    }
  },
} as Pick<KZG, "verifyProof"> as KZG;

const CLIQUE_NAMES = listNames(["period", "epoch"], {blockPeriodSeconds: "period", epochLength: "epoch"});

function readClique(value: unknown): {period: number; epoch: number} {
  const path = "config.clique";
  const {period = 0, epoch = 30000} = readMembers(parseObject(value, path), `${path}.`, CLIQUE_NAMES);
  return {
    period: Number(parseQuantity(period, `${path}.period`, 53)),
    epoch: Number(parseQuantity(epoch, `${path}.epoch`, 53)),
  };
}
