/** Audits a range of blocks after it was applied: stops the source that they came from if a value differs from the node's. */
import {type Node, NodeRefusal} from "../rpc/node.ts";
import {type AuditSubject, auditBlock, describeDifference, type HeldState} from "./audit.ts";

/** What to tell where a node refuses a state. */
export const FEW_STATES = "A node that is no archive node has the states of its newest blocks only";

/** The values held are not the node's, or they cannot be compared. The message names the block, the account and both values. */
export class AuditFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AuditFailure";
  }
}

/**
 * Compares `subjects` as of the newest block of the range. If the node now has another block at that number, or none, nothing is
 * compared: the code that follows the node finds forks itself, and waits for a node that is behind.
 *
 * @param ask - runs work with one node, until it succeeds
 * @param held - of the newest block of the range, on disk
 * @param subjects - a sample of what the range touched (auditSample.ts)
 * @returns whether the subjects were compared; true if there are none
 * @throws AuditFailure, what `ask` throws
 */
export async function auditRange(
  ask: <Result>(work: (node: Node) => Promise<Result>) => Promise<Result>,
  held: HeldState,
  subjects: readonly AuditSubject[],
): Promise<boolean> {
  if (subjects.length === 0) return true;
  try {
    const {name, outcome} = await ask(async node => ({
      name: node.name,
      outcome: await auditBlock(node, held, subjects),
    }));
    if (outcome.kind === "other_block") return false;
    const [first] = outcome.differences;
    if (first === undefined) return true;
    throw new AuditFailure(`the audit found a wrong value: ${describeDifference(first, name)}`);
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    throw new AuditFailure(
      `block ${held.block} cannot be audited: ${error.message}. ${FEW_STATES}; --audit 0 imports without an audit`,
      {cause: error},
    );
  }
}
