define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  br label %7

7:
  %8 = load i32, ptr %1, align 4
  %9 = zext i32 %8 to i64
  %10 = getelementptr i8, ptr %1, i64 4
  %11 = load i32, ptr %10, align 4
  %12 = zext i32 %11 to i64
  %13 = getelementptr i8, ptr %1, i64 8
  %14 = load i32, ptr %13, align 4
  %15 = zext i32 %14 to i64
  %16 = getelementptr i8, ptr %1, i64 16
  %17 = load i32, ptr %16, align 4
  %18 = zext i32 %17 to i64
  %19 = getelementptr i8, ptr %1, i64 20
  %20 = load i32, ptr %19, align 4
  %21 = zext i32 %20 to i64
  %22 = getelementptr i8, ptr %1, i64 24
  %23 = load i32, ptr %22, align 4
  %24 = zext i32 %23 to i64
  %25 = getelementptr i8, ptr %1, i64 32
  %26 = load i64, ptr %25, align 8
  %27 = getelementptr i8, ptr %1, i64 40
  %28 = load i64, ptr %27, align 8
  %29 = getelementptr i8, ptr %1, i64 48
  %30 = load i64, ptr %29, align 8
  %31 = getelementptr i8, ptr %1, i64 28
  %32 = load i32, ptr %31, align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr i8, ptr %1, i64 12
  %35 = load i32, ptr %34, align 4
  %36 = zext i32 %35 to i64
  %37 = getelementptr i8, ptr %1, i64 72
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr i8, ptr %1, i64 56
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr i8, ptr %4, i64 %40
  %42 = load ptr, ptr %0, align 8
  %43 = getelementptr i8, ptr %0, i64 8
  %44 = load i32, ptr %43, align 4
  %45 = getelementptr i8, ptr %0, i64 12
  %46 = load i32, ptr %45, align 4
  %47 = getelementptr i8, ptr %0, i64 16
  %48 = load float, ptr %47, align 4
  %49 = add i64 %2, %3
  %50 = getelementptr i8, ptr %1, i64 80
  %51 = load ptr, ptr %50, align 8
  store i8 0, ptr %6, align 1
  %52 = icmp eq ptr %51, null
  %53 = select i1 %52, ptr %6, ptr %51
  br label %54

54:
  %55 = phi i64 [ %2, %7 ], [ %72, %71 ]
  %56 = icmp ult i64 %55, %49
  br i1 %56, label %57, label %73

57:
  %58 = load atomic i8, ptr %53 monotonic, align 1
  %59 = icmp ne i8 %58, 0
  br i1 %59, label %73, label %60

60:
  %61 = udiv i64 %55, %18
  %62 = urem i64 %55, %18
  %63 = urem i64 %61, %21
  %64 = udiv i64 %61, %21
  %65 = mul i64 %62, %9
  %66 = add i64 %65, %26
  %67 = mul i64 %63, %12
  %68 = add i64 %67, %28
  %69 = mul i64 %64, %15
  %70 = add i64 %69, %30
  br label %74

71:
  %72 = add i64 %55, 1
  br label %54

73:
  ret void

74:
  %75 = phi i64 [ 0, %60 ], [ %107, %106 ]
  br label %76

76:
  %77 = phi i64 [ 0, %74 ], [ %104, %103 ]
  br label %78

78:
  %79 = phi i64 [ 0, %76 ], [ %85, %84 ]
  %80 = mul i64 %75, %12
  %81 = add i64 %80, %77
  %82 = mul i64 %81, %9
  %83 = add i64 %82, %79
  br label %87

84:
  %85 = add nuw nsw i64 %79, 1
  %86 = icmp ult i64 %85, %9
  br i1 %86, label %78, label %103

87:
  %88 = icmp eq i32 %46, 0
  %89 = icmp eq i32 %44, -2147483648
  %90 = icmp eq i32 %46, -1
  %91 = and i1 %89, %90
  %92 = or i1 %88, %91
  %93 = select i1 %92, i32 1, i32 %46
  %94 = sdiv i32 %44, %93
  %95 = icmp eq i32 %46, 0
  %96 = select i1 %95, i32 1, i32 %46
  %97 = urem i32 %44, %96
  %98 = and i32 %97, 31
  %99 = shl i32 %94, %98
  %100 = fptosi float %48 to i32
  %101 = freeze i32 %100
  %102 = add i32 %99, %101
  store i32 %102, ptr %42, align 4
  br label %84

103:
  %104 = add nuw nsw i64 %77, 1
  %105 = icmp ult i64 %104, %12
  br i1 %105, label %76, label %106

106:
  %107 = add nuw nsw i64 %75, 1
  %108 = icmp ult i64 %107, %15
  br i1 %108, label %74, label %71
