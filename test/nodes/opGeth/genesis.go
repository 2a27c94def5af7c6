// Prints the genesis file of a chain of the OP stack's registry, as op-geth has it.
package main

import (
	"os"

	"github.com/ethereum/go-ethereum/superchain"
)

const unichain = 130

func main() {
	chain, err := superchain.GetChain(unichain)
	if err != nil {
		panic(err)
	}
	genesis, err := chain.GenesisData()
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(genesis); err != nil {
		panic(err)
	}
}
