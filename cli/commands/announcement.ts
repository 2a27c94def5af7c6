/** What `proofd serve` writes once it takes requests. */
import {headFields} from "../../server/control/headFields.ts";
import type {Estimates} from "../../server/methods/estimates.ts";
import {VERSION} from "../../server/version.ts";
import type {ProofPool} from "../../workers/engine.ts";

/**
 * Writes one JSON line to standard output for programs. The demo also writes a line for people to standard error.
 *
 * @param adminPort - undefined: there is no admin port
 */
export function announce(
  {host, demo}: {readonly host: string; readonly demo: boolean},
  {chain, workers}: ProofPool,
  estimates: Estimates["kind"],
  port: number,
  adminPort: number | undefined,
): void {
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const head = chain.head();
  const line = {
    msg: "listening",
    url,
    version: VERSION,
    pid: process.pid,
    suite: chain.suite,
    workers,
    estimates,
    ...headFields(head),
    ...(adminPort === undefined ? {} : {adminUrl: `http://127.0.0.1:${adminPort}`}),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  if (!demo) return;
  process.stderr.write(
    `proofd serves ${url} (demo chain, blocks ${head.earliest} to ${head.finalized}); Ctrl-C stops it\n`,
  );
}
