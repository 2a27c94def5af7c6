/** Rules for blocks and transactions from berlin on. ../../interpreter/rules.ts has those inside the EVM. */
import {hasReached} from "../forks.ts";

export interface ForkRules {
  /** EIP-1559, EIP-3529. */
  readonly hasBaseFee: boolean;
  /** Blocks have no difficulty (EIP-3675, EIP-4399). */
  readonly isMerged: boolean;
  /** EIP-3651, EIP-3860, EIP-4895. */
  readonly isShanghai: boolean;
  /** EIP-4844, EIP-4788. */
  readonly hasBlobs: boolean;
  /** EIP-7702, EIP-7623, EIP-2935, and the requests of EIP-6110, EIP-7002, EIP-7251 and EIP-7685. */
  readonly isPrague: boolean;
  /** EIP-7594, EIP-7825, EIP-7918, EIP-7934. */
  readonly isOsaka: boolean;
}

const rulesOfForks = new Map<string, ForkRules>();

/** @param fork - a name that ForkSchedule returns */
export function forkRules(fork: string): ForkRules {
  const known = rulesOfForks.get(fork);
  if (known !== undefined) return known;
  const rules = {
    hasBaseFee: hasReached(fork, "london"),
    isMerged: hasReached(fork, "paris"),
    isShanghai: hasReached(fork, "shanghai"),
    hasBlobs: hasReached(fork, "cancun"),
    isPrague: hasReached(fork, "prague"),
    isOsaka: hasReached(fork, "osaka"),
  };
  rulesOfForks.set(fork, rules);
  return rules;
}
