/**
 * Variables that Kubernetes sets in every container for a service named proofd, or proofd-NAME:
 *
 *   PROOFD_SERVICE_HOST=10.0.0.1          PROOFD_PORT=tcp://10.0.0.1:8545
 *   PROOFD_SERVICE_PORT=8545              PROOFD_PORT_8545_TCP=tcp://10.0.0.1:8545
 *   PROOFD_SERVICE_PORT_HTTP=8545         PROOFD_PORT_8545_TCP_PROTO=tcp, ..._PORT=8545, ..._ADDR=10.0.0.1
 *
 * Docker's --link to a container of that name sets those with PORT, and:
 *
 *   PROOFD_NAME=/web/proofd               PROOFD_PORT_8545_TCP_START=tcp://172.17.0.5:8545, ..._END, ..._PORT_START, ..._PORT_END
 *   PROOFD_ENV_PATH=/usr/bin              each variable of the other container
 */

const NAME =
  /^PROOFD(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR|(PORT_)?(START|END)))?|ENV_\w+)$/;
/** Names that proofd's own variables may have, and how the value of the other ones begins. */
const BY_VALUE: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/^PROOFD(_[A-Z0-9]+)*_PORT$/, /^(tcp|udp|sctp):\/\//],
  [/^PROOFD(_[A-Z0-9]+)*_NAME$/, /^\/[^/]+\//],
];

/** Removes them from `environment`. @returns a warning for the operator; undefined if there are none */
export function ignoreServiceVariables(environment: NodeJS.ProcessEnv): string | undefined {
  const names = Object.keys(environment).filter(
    name =>
      NAME.test(name) ||
      BY_VALUE.some(([own, value]) => own.test(name) && value.test(environment[name] ?? "")),
  );
  for (const name of names) delete environment[name];
  if (names.length === 0) return undefined;
  return `ignored ${names.sort().join(", ")}: Kubernetes (without enableServiceLinks: false) and links of Docker set such variables for a service of this name`;
}
