/** How `proofd serve` ends after a signal. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {pino} from "pino";
import {endAfter} from "../../../../cli/commands/serveCommand.ts";
import {ExitCode} from "../../../../cli/exitCode.ts";
import {Ends} from "../../../../server/life/ends.ts";
import {WorkError} from "../../../../server/life/workError.ts";

const LOG = pino({enabled: false});

test("a service whose parts end has exit code 0, and one with a part that hangs is an error that names it", async () => {
  const ends = new Ends();
  const failed = new Promise<never>(() => {});
  const service = {stop: () => ends.run(1), failed};
  assert.equal(await endAfter(Promise.resolve("SIGTERM"), service, LOG), ExitCode.OK);
  const hanging = new Ends();
  hanging.add("the import", () => new Promise(() => {}));
  await assert.rejects(endAfter(Promise.resolve("SIGINT"), {stop: () => hanging.run(1), failed}, LOG), {
    name: "WorkError",
    message: "expected an end within 1 ms; still open: the import",
  });
});

test("a service that can never do its work is ended, and that is an error", async () => {
  let isStopped = false;
  const service = {
    failed: Promise.resolve(new WorkError("the genesis file is bad")),
    stop: async () => {
      isStopped = true;
    },
  };
  await assert.rejects(endAfter(new Promise(() => {}), service, LOG), /the genesis file is bad/);
  assert.ok(isStopped);
});
