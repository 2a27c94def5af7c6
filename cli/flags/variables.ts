/**
 * PROOFD_ variables. Kubernetes sets the following in every container, for a service named proofd or proofd-NAME:
 *
 *   PROOFD_SERVICE_HOST=10.0.0.1          PROOFD_PORT=tcp://10.0.0.1:8545
 *   PROOFD_SERVICE_PORT=8545              PROOFD_PORT_8545_TCP=tcp://10.0.0.1:8545
 *   PROOFD_SERVICE_PORT_HTTP=8545         PROOFD_PORT_8545_TCP_PROTO=tcp, ..._PORT=8545, ..._ADDR=10.0.0.1
 *
 * Docker's --link to a container of that name sets those with PORT, and these:
 *
 *   PROOFD_NAME=/web/proofd               PROOFD_PORT_8545_TCP_START=tcp://172.17.0.5:8545, ..._END, ..._PORT_START, ..._PORT_END
 *   PROOFD_ENV_PATH=/usr/bin              each variable of the other container
 */
import {type Command, InvalidArgumentError} from "commander";
import {OFF} from "./configFile.ts";

const NAME =
  /^PROOFD(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR|(PORT_)?(START|END)))?|ENV_\w+)$/;
/** Names that variables of proofd may have too. The pattern of the value tells them apart. */
const BY_VALUE: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/^PROOFD(_[A-Z0-9]+)*_PORT$/, /^(tcp|udp|sctp):\/\//],
  [/^PROOFD(_[A-Z0-9]+)*_NAME$/, /^\/[^/]+\//],
];

/** Removes the variables of Kubernetes and Docker from `environment`. @returns a warning if there are any */
export function ignoreServiceVariables(environment: NodeJS.ProcessEnv): string | undefined {
  const names = Object.keys(environment).filter(
    name =>
      NAME.test(name) ||
      BY_VALUE.some(([own, value]) => own.test(name) && value.test(environment[name] ?? "")),
  );
  for (const name of names) delete environment[name];
  if (names.length === 0) return undefined;
  return `ignored ${names.sort().join(", ")}: Kubernetes (without enableServiceLinks: false) and links of Docker set such variables for a service with this name`;
}

/** Makes every command refuse PROOFD_ variables that no command knows, before it runs. */
export function refuseUnknownVariables(program: Command, environment: NodeJS.ProcessEnv): void {
  const known = new Set(program.commands.flatMap(({options}) => options.map(({envVar}) => envVar)));
  program.hook("preAction", () => {
    const unknown = Object.keys(environment).find(name => name.startsWith("PROOFD_") && !known.has(name));
    if (unknown !== undefined)
      program.error(`error: unknown environment variable ${unknown}: no command has a flag of that name`);
  });
}

/**
 * Checks the variables of switches, since commander takes any value as on. 0, false and an empty value override the
 * file of --config, and are removed from `environment`. @throws InvalidArgumentError
 */
export function readSwitches(command: Command, environment: NodeJS.ProcessEnv): void {
  for (const option of command.options) {
    if (option.required || option.optional || option.envVar === undefined) continue;
    const value = environment[option.envVar];
    if (value === undefined || value === "1" || value === "true") continue;
    if (value !== "0" && value !== "false" && value !== "") {
      throw new InvalidArgumentError(
        `environment variable ${option.envVar}: expected 1, true, 0 or false, got '${value}'`,
      );
    }
    delete environment[option.envVar];
    command.setOptionValueWithSource(option.attributeName(), false, OFF);
  }
}
