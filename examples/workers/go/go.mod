module example.com/horae/worker

go 1.19
