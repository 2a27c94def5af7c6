/** The rules of a chain from its first fork to its last one, as @ethereumjs takes them: for blocks and calls that are compared. */
import {
  type ChainConfig,
  Common,
  type HardforkConfig,
  type HardforkTransitionConfig,
  type ParamsConfig,
  type ParamsDict,
} from "@ethereumjs/common";
import {hexToBytes, type KZG, type PrefixedHexString} from "@ethereumjs/util";
import {readConsensus} from "../../../evm/execution/chainRules.ts";
import type {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {CHAIN_START, PARIS} from "../../../evm/execution/forks.ts";
import {BLOB_GAS, type BlobLimits} from "../../../evm/execution/rules/fees.ts";
import {ecrecover} from "../../../evm/interpreter/ecrecover.ts";
import {verifyPointEvaluation} from "../../../evm/interpreter/precompiles/pointEvaluation.ts";
import {PrecompileRefusal} from "../../../evm/interpreter/precompiles/precompile.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";

/** The names of the system contracts' addresses, by their EIPs. */
const CONTRACTS: Readonly<Record<number, string>> = {
  7002: "withdrawalRequestPredeployAddress",
  7251: "consolidationRequestPredeployAddress",
};

/** `setHardfork(forks.forkAt(block))` selects a block's. */
export function createFullRules(forks: ForkSchedule): Common {
  const hardforks: HardforkTransitionConfig[] = [
    {name: CHAIN_START, block: 0},
    ...forks.byNumber.map(({name, from}) => ({name, block: Number(from)})),
    {name: PARIS, block: null},
    ...forks.byTime.map(({name, from}) => ({name, block: null, timestamp: Number(from)})),
  ];
  const params: ParamsDict = {};
  const customHardforks: Record<string, HardforkConfig> = {};
  for (const {name} of forks.byTime.slice(1)) {
    const counts = toParams(forks.blobLimits(name));
    // @ethereumjs does not know every fork that changes only blob counts. It has the EIPs of all other forks.
    if (name.startsWith("bpo")) customHardforks[name] = {eips: [], params: counts};
    else params[name] = counts;
  }
  const addresses = forks.systemContracts.map(({eip, address}) => [CONTRACTS[eip], toHex(address)]);
  const chain: ChainConfig = {
    name: "genesis",
    chainId: Number(forks.chainId),
    defaultHardfork: CHAIN_START,
    genesis: {gasLimit: 0, difficulty: 0, nonce: "0x", extraData: "0x"},
    hardforks,
    customHardforks,
    bootstrapNodes: [],
    consensus: readConsensus(forks),
    // geth's default is no deposit contract; @ethereumjs would take mainnet's.
    depositContractAddress: toHex(forks.depositContract) as PrefixedHexString,
  };
  return new Common({
    chain,
    hardfork: CHAIN_START,
    customCrypto: {keccak256, ecrecover, kzg},
    params: {...params, prague: {...params.prague, ...Object.fromEntries(addresses)}},
  });
}

function toParams({target, max, updateFraction}: BlobLimits): ParamsConfig {
  return {
    // @ethereumjs reads the first two from bpo1 on, the next two before.
    target: Number(target / BLOB_GAS),
    max: Number(max / BLOB_GAS),
    targetBlobGasPerBlock: Number(target),
    maxBlobGasPerBlock: Number(max),
    blobGasPriceUpdateFraction: Number(updateFraction),
  };
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
