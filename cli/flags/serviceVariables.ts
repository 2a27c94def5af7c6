/**
 * Variables that Kubernetes sets in every container for a service named proofd, or proofd-NAME:
 *
 *   PROOFD_SERVICE_HOST=10.0.0.1          PROOFD_PORT=tcp://10.0.0.1:8545
 *   PROOFD_SERVICE_PORT=8545              PROOFD_PORT_8545_TCP=tcp://10.0.0.1:8545
 *   PROOFD_SERVICE_PORT_HTTP=8545         PROOFD_PORT_8545_TCP_PROTO=tcp, ..._PORT=8545, ..._ADDR=10.0.0.1
 */

const NAME =
  /^PROOFD(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const LINK_NAME = /^PROOFD(_[A-Z0-9]+)*_PORT$/;
const LINK = /^(tcp|udp|sctp):\/\//;

/** Removes them from `environment`. @returns a warning for the operator; undefined if there are none */
export function ignoreServiceVariables(environment: NodeJS.ProcessEnv): string | undefined {
  const names = Object.keys(environment).filter(
    name => NAME.test(name) || (LINK_NAME.test(name) && LINK.test(environment[name] ?? "")),
  );
  for (const name of names) delete environment[name];
  if (names.length === 0) return undefined;
  return `ignored ${names.sort().join(", ")}: Kubernetes sets such variables for a service of this name (enableServiceLinks: false ends it)`;
}
