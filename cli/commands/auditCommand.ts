/** `proofd audit`: compares values of a store with those of a layer-2 node, as of one block. It changes nothing. */

import {openFailed} from "../../service/openFailure.ts";
import {WorkError} from "../../service/workError.ts";
import {requireFormat} from "../../storage/block/format.ts";
import {HeldValues} from "../../storage/block/heldValues.ts";
import {StateReader} from "../../storage/block/stateReader.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {FileSnapshot} from "../../storage/leveldb/fileSnapshot.ts";
import {refuseForeignDirectory} from "../../storage/leveldb/storeFolder.ts";
import {type AuditOutcome, auditBlock, describeDifference} from "../../sync/layer2/audit.ts";
import {FEW_STATES} from "../../sync/layer2/auditRange.ts";
import {TouchedSample} from "../../sync/layer2/auditSample.ts";
import {findBlockSubjects} from "../../sync/layer2/auditSubjects.ts";
import {type Node, NodeRefusal} from "../../sync/rpc/node.ts";
import {Nodes, type NodesSettings} from "../../sync/rpc/nodes.ts";
import {ExitCode, exitCodeOf, type StopSignal, watchSignals} from "../exitCode.ts";

interface AuditOptions {
  readonly db: string;
  readonly nodes: NodesSettings;
  /** undefined: the newest block held. */
  readonly block: number | undefined;
  readonly sample: number;
}

interface Audited {
  readonly node: string;
  readonly outcome: AuditOutcome;
  readonly accounts: number;
  readonly refused: readonly string[];
}

const MEMORY = {pageBytes: 8 << 20, hintBytes: 0};

/** @returns the exit code: FAILED if a value differs. Otherwise the code of the signal that stopped the audit, or OK */
export async function runAudit({db, nodes: settings, block, sample}: AuditOptions): Promise<number> {
  let received: StopSignal | undefined;
  const stop = new AbortController();
  const unwatch = watchSignals(signal => {
    received = signal;
    stop.abort();
  });
  const snapshot = await openSnapshot(db);
  try {
    const held = await readHeld(snapshot, db, block);
    const nodes = new Nodes(settings, ({name, state, reason}) => {
      if (state !== "up") process.stderr.write(`audit: ${name} is ${state}: ${reason}\n`);
    });
    try {
      const audited = await nodes.use(node => auditSample(node, held, sample), stop.signal);
      return report(held, audited);
    } catch (error) {
      if (received !== undefined) return exitCodeOf(received);
      if (!(error instanceof NodeRefusal)) throw error;
      throw new WorkError(
        `the node refuses what an audit of block ${held.block} asks for: ${error.message}. ${FEW_STATES}`,
        {cause: error},
      );
    } finally {
      await nodes.close();
    }
  } finally {
    snapshot.close();
    unwatch();
  }
}

/** A snapshot of the files, which may be in use by another process. */
async function openSnapshot(db: string): Promise<FileSnapshot> {
  try {
    refuseForeignDirectory(db, false);
    return await FileSnapshot.open(db);
  } catch (error) {
    throw openFailed(db, error);
  }
}

async function readHeld(snapshot: FileSnapshot, db: string, block: number | undefined): Promise<HeldValues> {
  try {
    const suite = await requireFormat(snapshot, db);
    const reader = new StateReader(snapshot, suite, MEMORY);
    const chosen = block ?? (await reader.latest());
    if (chosen === undefined) throw new StoreError("BLOCK_UNKNOWN", "the store holds no block");
    return new HeldValues(reader, chosen);
  } catch (error) {
    if (error instanceof StoreError && error.code === "BLOCK_UNKNOWN")
      throw new WorkError(`cannot audit the store in ${db}: ${error.message}`, {cause: error});
    throw openFailed(db, error);
  }
}

async function auditSample(node: Node, held: HeldValues, count: number): Promise<Audited> {
  const {subjects, refused} = await findBlockSubjects(node, held.block);
  const sample = new TouchedSample(count);
  for (const subject of subjects) sample.offer(subject);
  const chosen = sample.take();
  return {node: node.name, outcome: await auditBlock(node, held, chosen), accounts: chosen.length, refused};
}

function report({block, blockHash}: HeldValues, {node, outcome, accounts, refused}: Audited): number {
  if (outcome.kind === "other_block") {
    const theirs = outcome.hash === undefined ? "no such block" : `block ${outcome.hash}`;
    throw new WorkError(
      `nothing was compared: block ${block} is ${toHex(blockHash)} here, ${node} has ${theirs}`,
    );
  }
  const {values, differences} = outcome;
  for (const refusal of refused)
    process.stderr.write(`audit: fewer values were found at ${node}: ${refusal}\n`);
  for (const difference of differences) process.stdout.write(`${describeDifference(difference, node)}\n`);
  const verdict =
    differences.length === 0
      ? "all are the same"
      : `${differences.length} ${differences.length === 1 ? "differs" : "differ"}`;
  process.stdout.write(
    `compared ${values} values of ${accounts} accounts as of block ${block} with ${node}: ${verdict}\n`,
  );
  return differences.length === 0 ? ExitCode.OK : ExitCode.FAILED;
}
