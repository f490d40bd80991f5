# For those who type make; the scripts do the work.
.PHONY: all test bench
all:
	@./heddle --version
test:
	@./test
bench:
	@./heddle bench
	@bench/cross.sh
