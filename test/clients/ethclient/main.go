// Go's ethclient with proofd's URL alone. Run: go run . URL KEY
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math/big"
	"os"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"
)

var (
	logger    = common.BytesToAddress(bytes.Repeat([]byte{0x70}, 20))
	data      = bytes.Repeat([]byte{0x5a}, 32)
	finalized = big.NewInt(3)
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func check(isTrue bool, what string) {
	if !isTrue {
		log.Fatalf("not so: %s", what)
	}
}

func main() {
	ctx := context.Background()
	client := must(ethclient.Dial(os.Args[1]))
	key := must(crypto.HexToECDSA(os.Args[2][2:]))
	from := crypto.PubkeyToAddress(key.PublicKey)
	call := ethereum.CallMsg{From: from, To: &logger, Data: data}
	tip := must(client.SuggestGasTipCap(ctx))
	price := must(client.SuggestGasPrice(ctx))
	signer := types.LatestSignerForChainID(must(client.ChainID(ctx)))
	tx := types.MustSignNewTx(key, signer, &types.DynamicFeeTx{
		Nonce: must(client.PendingNonceAt(ctx, from)), To: &logger, Data: data,
		Gas: must(client.EstimateGas(ctx, call)), GasTipCap: tip, GasFeeCap: new(big.Int).Mul(price, big.NewInt(2)),
	})
	if err := client.SendTransaction(ctx, tx); err != nil {
		log.Fatal(err)
	}
	var receipt *types.Receipt
	for range 600 {
		var err error
		if receipt, err = client.TransactionReceipt(ctx, tx.Hash()); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	check(receipt != nil && receipt.Status == 1, "a receipt")
	block := must(client.BlockByNumber(ctx, receipt.BlockNumber))
	check(block.Transactions()[0].Hash() == tx.Hash() && block.Hash() == receipt.BlockHash, "the block's transaction and hash")
	logs := must(client.FilterLogs(ctx, ethereum.FilterQuery{FromBlock: receipt.BlockNumber, ToBlock: receipt.BlockNumber}))
	check(bytes.Equal(logs[0].Data, data), "the log's data")
	for _, number := range []*big.Int{nil, finalized} {
		check(bytes.Equal(must(client.CallContract(ctx, call, number)), data), "what a call returns")
	}
	check(must(client.BalanceAt(ctx, from, nil)).Cmp(must(client.BalanceAt(ctx, from, finalized))) < 0, "a lower balance")
	check(must(client.BlockNumber(ctx)) >= receipt.BlockNumber.Uint64(), "the newest block's number")
	header := must(client.HeaderByNumber(ctx, big.NewInt(rpc.FinalizedBlockNumber.Int64())))
	check(header.Number.Cmp(finalized) == 0, "the finalized block")
	check(len(must(client.BlockReceipts(ctx, rpc.BlockNumberOrHashWithHash(receipt.BlockHash, false)))) == 1, "receipts")
	fmt.Printf("a transaction in block %d, its block, receipt, log, call\n", receipt.BlockNumber)
}
