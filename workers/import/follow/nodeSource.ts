/** A layer-2 node as the source of an import. */

import {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {type Genesis, parseGenesis} from "../../../evm/execution/genesis.ts";
import {parseObject} from "../../../evm/execution/gethJson.ts";
import {recoverAuthority} from "../../../evm/execution/run/authorizations.ts";
import {SettingsFault, type SourceStep, Stopped} from "../../../nodes/blocks/sourceStep.ts";
import {TraceReader} from "../../../nodes/blocks/trace/traceReader.ts";
import {TrieLogReader} from "../../../nodes/blocks/trielogs/trieLogReader.ts";
import {readGenesis} from "../../../nodes/files/inputFile.ts";
import {HeadSignal} from "../../../nodes/rpc/newHeads.ts";
import type {Node} from "../../../nodes/rpc/node.ts";
import {Nodes} from "../../../nodes/rpc/nodes.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import type {ImportJob} from "../../messages/importJob.ts";
import type {NodeSource} from "../../messages/importSource.ts";
import type {SourceHost} from "../sourceHost.ts";
import {ExecuteReader} from "./executeReader.ts";
import {HeadSurvey} from "./headSurvey.ts";
import {type NodeChain, readNodeBlocks} from "./nodeBlocks.ts";
import {readNodeGenesis} from "./nodeGenesis.ts";
import {NodeWatch} from "./nodeWatch.ts";
import {chooseSource} from "./sourceChoice.ts";

/** How often the node is asked for its head while there is nothing to read, even if it announces new heads. */
const POLL_MS = 100;

export async function* readNode(
  source: NodeSource,
  job: ImportJob,
  host: SourceHost,
): AsyncGenerator<SourceStep> {
  const {genesisPath, nodes: settings, subscriptions, follow, to} = source;
  const {writer, signal, onEvent} = host;
  // Without --source, the choice may be to execute.
  const isExecuted = source.source === undefined || source.source === "execute";
  const genesis =
    genesisPath === undefined ? undefined : parseGenesis(await readGenesis(genesisPath, signal), isExecuted);
  const chainId = expectedChainId(genesis, writer.chain?.chainId ?? job.chainId);
  const watch = new NodeWatch(settings.urls.length, onEvent);
  const nodes = new Nodes({...settings, chainId}, event => watch.noteNode(event));
  const heads = new HeadSignal({...settings, urls: subscriptions, pollMs: POLL_MS}, onEvent);
  let executed: ExecuteReader | undefined;
  try {
    const ask = <T>(work: (node: Node) => Promise<T>): Promise<T> => nodes.use(work, signal);
    const choice = await chooseSource({asked: source.source, writer, hasGenesis: genesis !== undefined, ask});
    onEvent({kind: "chosen", ...choice});
    const survey =
      follow || to !== undefined ? new HeadSurvey(nodes, writer, source.surveyAfterMs) : undefined;
    const chain: NodeChain = {nodes, heads, survey, watch, host};
    if (choice.source === "execute") executed = new ExecuteReader(genesis?.forks ?? readForks(writer), host);
    if (writer.latest === undefined && genesis !== undefined)
      yield await readNodeGenesis(genesis, chain, executed ?? new ExecuteReader(genesis.forks, host));
    const read =
      choice.source === "trielogs"
        ? new TrieLogReader(chainId)
        : new TraceReader(
            recoverAuthority,
            () => writer.trie !== undefined,
            (name, why) => onEvent({kind: "method", name, method: "traces with codes", why}),
          );
    yield* readNodeBlocks(chain, executed ?? read, follow ? undefined : (to ?? "head"));
  } catch (error) {
    throw signal.aborted ? new Stopped() : error;
  } finally {
    await Promise.all([nodes.close(), heads.close(), executed?.execution.senders.close()]);
  }
}

/** @returns the genesis file's, or else `known`. @throws SettingsFault if they differ */
function expectedChainId(genesis: Genesis | undefined, known: bigint | undefined): bigint | undefined {
  if (genesis === undefined) return known;
  if (known !== undefined && known !== genesis.chainId)
    throw new SettingsFault(`the genesis file: expected chain ${known}, got chain ${genesis.chainId}`);
  return genesis.chainId;
}

/** The forks that the store has recorded with block 0. @throws SettingsFault */
function readForks({chain}: BlockWriter): ForkSchedule {
  if (chain?.config === undefined)
    throw new SettingsFault(
      "the store does not have the chain's forks: give --genesis, whose config names them",
    );
  return new ForkSchedule(parseObject(JSON.parse(chain.config), "config"));
}
