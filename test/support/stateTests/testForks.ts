/** The names of hard forks in the tests, and geth's config of a chain that has them. */
import {CHAIN_START, configOfFork} from "../../../evm/execution/forks.ts";
import {type JsonObject, parseObject} from "../../../evm/execution/gethJson.ts";
import {rulesOf} from "../../../evm/interpreter/rules.ts";
import {type ChainFork, chainFork} from "../evm/chainFork.ts";

const FORKS: Readonly<Record<string, string>> = {
  Frontier: CHAIN_START,
  Homestead: "homestead",
  EIP150: "tangerineWhistle",
  EIP158: "spuriousDragon",
  Byzantium: "byzantium",
  ConstantinopleFix: "petersburg",
  Istanbul: "istanbul",
  Berlin: "berlin",
  London: "london",
  ArrowGlacier: "arrowGlacier",
  GrayGlacier: "grayGlacier",
  Merge: "paris",
  Paris: "paris",
  Shanghai: "shanghai",
  Cancun: "cancun",
  Prague: "prague",
  Osaka: "osaka",
  BPO1: "bpo1",
  BPO2: "bpo2",
  BPO3: "bpo3",
  BPO4: "bpo4",
};
/** `CancunToPragueAtTime15k`, `BerlinToLondonAt5`. */
const TRANSITION = /^(\w+)To(\w+)At(?:Time)?(\d+)(k?)$/;
const DEPOSIT_CONTRACT = "0x00000000219ab540356cbb839cbe05303d7705fa";

/** @returns geth's config of a test's network; undefined if it has another fork than frontier to osaka */
export function configOfNetwork(network: string, config: JsonObject): JsonObject | undefined {
  const [, first = network, second, count, thousands] = TRANSITION.exec(network) ?? [];
  const from = FORKS[first];
  const to = second === undefined ? from : FORKS[second];
  if (from === undefined || to === undefined) return undefined;
  const at = second === undefined ? 0 : Number(count) * (thousands === "k" ? 1000 : 1);
  const blobs = Object.entries(parseObject(config.blobSchedule ?? {}, "blobSchedule"));
  return {
    ...forkFields(to, at),
    ...forkFields(from, 0),
    chainId: config.chainid ?? 1,
    depositContractAddress: DEPOSIT_CONTRACT,
    blobSchedule: Object.fromEntries(blobs.map(([name, counts]) => [name.toLowerCase(), counts])),
  };
}

/** Every fork up to `fork`. `configOfFork` leaves out those that only change blob counts. */
function forkFields(fork: string, at: number): Record<string, number> {
  const names = fork === CHAIN_START ? [] : Object.keys(configOfFork(fork));
  const last = Number(/^bpo(\d)$/.exec(fork)?.[1] ?? 0);
  for (let number = 1; number <= last; number++) names.push(`bpo${number}Time`);
  return Object.fromEntries(names.map(name => [name, at]));
}

const known = new Map<string, ChainFork>();

/** The rules of a state test; undefined: of a fork that the interpreter does not know. */
export function forkOf(network: string, config: JsonObject): ChainFork | undefined {
  const [name, whole] = [FORKS[network], configOfNetwork(network, config)];
  if (name === undefined || whole === undefined || rulesOf(name) === undefined) return undefined;
  const key = JSON.stringify([network, config]);
  const fork = known.get(key) ?? chainFork(name, whole);
  known.set(key, fork);
  return fork;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
