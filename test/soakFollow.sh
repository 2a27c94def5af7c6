#!/bin/sh
# Kills a service that follows nodes with kill -9, at random moments, 100 times or as often as the first argument says: beside
# one node of layer 2, then beside nodes of both layers, which are started again each time. Then its roots are compared with
# those of a store that was filled in one go. Run `npm run build` first.
set -eu
cd "$(dirname "$0")/.."
FOLLOW_KILLS="${1:-100}" exec node dist/test/run.js --test-name-pattern="killed at any moment|kill -9 at any moment" \
  dist/test/integration/cli/followedNode.test.js dist/test/integration/cli/twoLayers.test.js
