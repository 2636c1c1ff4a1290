define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca i64, align 8
  %16 = alloca i64, align 8
  %17 = alloca i64, align 8
  %18 = alloca i64, align 8
  %19 = alloca i32, align 4
  %20 = alloca i32, align 4
  br label %21

21:
  %22 = load i32, ptr %1, align 4
  %23 = zext i32 %22 to i64
  %24 = getelementptr i8, ptr %1, i64 4
  %25 = load i32, ptr %24, align 4
  %26 = zext i32 %25 to i64
  %27 = getelementptr i8, ptr %1, i64 8
  %28 = load i32, ptr %27, align 4
  %29 = zext i32 %28 to i64
  %30 = getelementptr i8, ptr %1, i64 16
  %31 = load i32, ptr %30, align 4
  %32 = zext i32 %31 to i64
  %33 = getelementptr i8, ptr %1, i64 20
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr i8, ptr %1, i64 24
  %37 = load i32, ptr %36, align 4
  %38 = zext i32 %37 to i64
  %39 = getelementptr i8, ptr %1, i64 32
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr i8, ptr %1, i64 40
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr i8, ptr %1, i64 48
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr i8, ptr %1, i64 28
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr i8, ptr %1, i64 12
  %49 = load i32, ptr %48, align 4
  %50 = zext i32 %49 to i64
  %51 = getelementptr i8, ptr %1, i64 72
  %52 = load i64, ptr %51, align 8
  %53 = getelementptr i8, ptr %1, i64 56
  %54 = load i64, ptr %53, align 8
  %55 = getelementptr i8, ptr %4, i64 %54
  %56 = load ptr, ptr %0, align 8
  %57 = add i64 %2, %3
  %58 = getelementptr i8, ptr %1, i64 80
  %59 = load ptr, ptr %58, align 8
  store i8 0, ptr %6, align 1
  %60 = icmp eq ptr %59, null
  %61 = select i1 %60, ptr %6, ptr %59
  br label %62

62:
  %63 = phi i64 [ %2, %21 ], [ %80, %79 ]
  %64 = icmp ult i64 %63, %57
  br i1 %64, label %65, label %81

65:
  %66 = load atomic i8, ptr %61 monotonic, align 1
  %67 = icmp ne i8 %66, 0
  br i1 %67, label %81, label %68

68:
  %69 = udiv i64 %63, %32
  %70 = urem i64 %63, %32
  %71 = urem i64 %69, %35
  %72 = udiv i64 %69, %35
  %73 = mul i64 %70, %23
  %74 = add i64 %73, %40
  %75 = mul i64 %71, %26
  %76 = add i64 %75, %42
  %77 = mul i64 %72, %29
  %78 = add i64 %77, %44
  store i32 0, ptr %7, align 4
  br label %82

79:
  %80 = add i64 %63, 1
  br label %62

81:
  ret void

82:
  store i64 0, ptr %11, align 8
  store i32 -1, ptr %10, align 4
  store i64 0, ptr %16, align 8
  store i64 0, ptr %17, align 8
  store i64 0, ptr %18, align 8
  br label %83

83:
  %84 = load i32, ptr %7, align 4
  store i32 %84, ptr %8, align 4
  br label %85

85:
  store i64 0, ptr %12, align 8
  store i32 -1, ptr %9, align 4
  %86 = load i64, ptr %16, align 8
  store i64 %86, ptr %13, align 8
  %87 = load i64, ptr %17, align 8
  store i64 %87, ptr %14, align 8
  %88 = load i64, ptr %18, align 8
  store i64 %88, ptr %15, align 8
  %89 = load i64, ptr %11, align 8
  %90 = sub i64 %47, %89
  %91 = load i64, ptr %11, align 8
  br label %92

92:
  %93 = load i64, ptr %12, align 8
  %94 = add i64 %91, %93
  %95 = mul i64 %94, 16
  %96 = getelementptr i8, ptr %55, i64 %95
  %97 = load i32, ptr %8, align 4
  %98 = icmp ne i32 %97, 0
  %99 = load i32, ptr %96, align 4
  %100 = select i1 %98, i32 %99, i32 0
  %101 = icmp eq i32 %97, -2
  %102 = icmp ne i32 %100, -1
  %103 = icmp eq i32 %100, %97
  store i32 %100, ptr %19, align 4
  %104 = select i1 %101, i1 %102, i1 %103
  br i1 %104, label %105, label %111

105:
  %106 = load i64, ptr %13, align 8
  %107 = load i64, ptr %14, align 8
  %108 = load i64, ptr %15, align 8
  switch i32 %100, label %111 [
    i32 0, label %163
    i32 1, label %153
  ]

109:
  %110 = load i32, ptr %19, align 4
  store i32 %110, ptr %96, align 4
  br label %111

111:
  %112 = load i32, ptr %9, align 4
  %113 = load i32, ptr %19, align 4
  %114 = call i32 @llvm.umin.i32(i32 %112, i32 %113)
  store i32 %114, ptr %9, align 4
  %115 = load i64, ptr %13, align 8
  %116 = add i64 %115, 1
  %117 = icmp uge i64 %116, %23
  %118 = select i1 %117, i64 0, i64 %116
  store i64 %118, ptr %13, align 8
  %119 = zext i1 %117 to i64
  %120 = load i64, ptr %14, align 8
  %121 = add i64 %120, %119
  %122 = icmp uge i64 %121, %26
  %123 = select i1 %122, i64 0, i64 %121
  store i64 %123, ptr %14, align 8
  %124 = zext i1 %122 to i64
  %125 = load i64, ptr %15, align 8
  %126 = add i64 %125, %124
  %127 = icmp uge i64 %126, %29
  %128 = select i1 %127, i64 0, i64 %126
  store i64 %128, ptr %15, align 8
  %129 = zext i1 %127 to i64
  %130 = load i64, ptr %12, align 8
  %131 = add i64 %130, 1
  store i64 %131, ptr %12, align 8
  %132 = icmp ult i64 %131, %90
  br i1 %132, label %92, label %133

133:
  br label %134

134:
  %135 = load i32, ptr %10, align 4
  %136 = load i32, ptr %9, align 4
  %137 = call i32 @llvm.umin.i32(i32 %135, i32 %136)
  store i32 %137, ptr %10, align 4
  %138 = load i64, ptr %13, align 8
  store i64 %138, ptr %16, align 8
  %139 = load i64, ptr %14, align 8
  store i64 %139, ptr %17, align 8
  %140 = load i64, ptr %15, align 8
  store i64 %140, ptr %18, align 8
  %141 = add i64 %91, %90
  store i64 %141, ptr %11, align 8
  %142 = icmp ult i64 %141, %47
  br i1 %142, label %83, label %143

143:
  store i32 -2, ptr %7, align 4
  %144 = load i32, ptr %10, align 4
  %145 = icmp ne i32 %144, -1
  br i1 %145, label %82, label %79

146:
  %147 = mul i64 %106, 4
  %148 = getelementptr i8, ptr %56, i64 %147
  %149 = load i32, ptr %148, align 4
  store i32 %149, ptr %20, align 4
  %150 = mul i64 %106, 4
  %151 = getelementptr i8, ptr %4, i64 %150
  store i32 %149, ptr %151, align 4
  %152 = getelementptr i8, ptr %96, i64 4
  store i32 %149, ptr %152, align 4
  store i32 1, ptr %19, align 4
  br label %109

153:
  %154 = getelementptr i8, ptr %96, i64 4
  %155 = load i32, ptr %154, align 4
  store i32 %155, ptr %20, align 4
  %156 = xor i64 %106, 1
  %157 = mul i64 %156, 4
  %158 = getelementptr i8, ptr %4, i64 %157
  %159 = load i32, ptr %158, align 4
  %160 = add i32 %155, %159
  %161 = mul i64 %106, 4
  %162 = getelementptr i8, ptr %56, i64 %161
  store i32 %160, ptr %162, align 4
  store i32 -1, ptr %19, align 4
  br label %109

163:
  br label %146
