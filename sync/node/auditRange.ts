/** Audits a range of blocks after it was applied: stops the source that they came from if a value differs from the node's. */
import {type Node, NodeRefusal} from "../rpc/node.ts";
import {type AuditSubject, auditBlock, describeDifference, type HeldState} from "./audit.ts";

/** The values held are not the node's, or they cannot be compared. The message names the block, the account and both values. */
export class AuditFailure extends Error {
  /** A value differs. Otherwise nothing was compared. */
  readonly isWrong: boolean;

  constructor(message: string, isWrong: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = "AuditFailure";
    this.isWrong = isWrong;
  }
}

/**
 * Compares `subjects` as of the newest block of the range. Does nothing if the node has another block there meanwhile: the
 * follower finds the fork itself, and these blocks are removed.
 *
 * @param ask - runs work with one node, until it succeeds
 * @param held - of the newest block of the range, on disk
 * @param subjects - a sample of what the range touched (auditSample.ts)
 * @throws AuditFailure, what `ask` throws
 */
export async function auditRange(
  ask: <Result>(work: (node: Node) => Promise<Result>) => Promise<Result>,
  held: HeldState,
  subjects: readonly AuditSubject[],
): Promise<void> {
  if (subjects.length === 0) return;
  try {
    const {name, outcome} = await ask(async node => ({
      name: node.name,
      outcome: await auditBlock(node, held, subjects),
    }));
    const first = outcome.kind === "compared" ? outcome.differences[0] : undefined;
    if (first !== undefined)
      throw new AuditFailure(`the audit found a wrong value: ${describeDifference(first, name)}`, true);
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    throw new AuditFailure(
      `block ${held.block} cannot be audited: ${error.message}. A node that is no archive node has the state of its ` +
        "newest blocks only; --audit 0 goes on without an audit",
      false,
      {cause: error},
    );
  }
}
