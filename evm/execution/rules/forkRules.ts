/** Rules for blocks and transactions from berlin on. ../../interpreter/rules.ts has those inside the EVM. */
import {hasReached} from "../forks.ts";

/** The fork that brought each rule. */
const SINCE = {
  /** EIP-1559, EIP-3529. */
  hasBaseFee: "london",
  /** Blocks have no difficulty (EIP-3675, EIP-4399). */
  isMerged: "paris",
  /** EIP-3651, EIP-3860, EIP-4895. */
  isShanghai: "shanghai",
  /** EIP-4844, EIP-4788. */
  hasBlobs: "cancun",
  /** EIP-7702, EIP-7623, EIP-2935, and the requests of EIP-6110, EIP-7002, EIP-7251 and EIP-7685. */
  isPrague: "prague",
  /** EIP-7594, EIP-7825, EIP-7918, EIP-7934. */
  isOsaka: "osaka",
};

export type ForkRules = Readonly<Record<keyof typeof SINCE, boolean>>;

const rulesOfForks = new Map<string, ForkRules>();

/** @param fork - a name that ForkSchedule returns */
export function forkRules(fork: string): ForkRules {
  const known = rulesOfForks.get(fork);
  if (known !== undefined) return known;
  const entries = Object.entries(SINCE).map(([rule, since]) => [rule, hasReached(fork, since)]);
  const rules: ForkRules = Object.fromEntries(entries);
  rulesOfForks.set(fork, rules);
  return rules;
}
